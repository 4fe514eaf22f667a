package setup

import (
	"strings"
	"testing"
)

func TestComparePaths(t *testing.T) { // F-056
	t.Parallel()
	same := comparePaths("/usr/bin:/bin", "/bin:/usr/bin\n")
	if len(same) != 1 || same[0].Status != OK || !strings.Contains(same[0].Message, "/usr/bin:/bin") {
		t.Errorf("the same: %+v", same)
	}
	other := comparePaths("/usr/bin", "/opt/node22/bin:/usr/bin:/opt/node22/bin:")
	if len(other) != 1 || other[0].Status != Warn || !strings.HasSuffix(other[0].Message, "login shell also in /opt/node22/bin") || !strings.Contains(other[0].Fix, "shell_init_files") {
		t.Errorf("another: %+v", other)
	}
}
