package searchfiles

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/files/filestest"
)

// stuck is a file system with files in which reading never comes back, not
// even when they are closed.
type stuck struct{ bare }

func (s stuck) Open(ctx context.Context, name string) (backend.File, error) {
	f, err := s.FileSystem.Open(ctx, name)
	if err == nil && strings.HasPrefix(filepath.Base(name), "stuck") {
		return endless{f}, nil
	}
	return f, err
}

type endless struct{ backend.File }

func (endless) Read([]byte) (int, error) { select {} }

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	b := filestest.New(t)
	b.Wrap = func(e backend.Env) backend.Env { return stuck{bare{e, e.(backend.FileSystem)}} }
	for i := range 2 * batch {
		b.Put(fmt.Sprintf("a%03d", i), "needle\n")
	}
	for i := range 2 * batch * max(2, runtime.GOMAXPROCS(0)) { // every worker gets to one
		b.Put(fmt.Sprintf("stuck%03d", i), "needle\n")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	r := b.CallIn(ctx, "search_files", given{"pattern": "needle"})
	if r.Err != nil || r.Num("total_count") != 2*batch || !r.Is("truncated") || !strings.Contains(r.Text("_warning"), "stopped at its time limit") {
		t.Errorf("a directory: %v, %s", r.Err, r.JSON)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r = b.CallIn(ctx, "search_files", given{"pattern": "needle", "path": "stuck000"})
	if r.Err != nil || !strings.Contains(r.Text("_warning"), "stopped at its time limit") {
		t.Errorf("a file: %v, %s", r.Err, r.JSON)
	}
}

func TestKernelFiles(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/version"); err != nil {
		return // there are none here
	}
	engines(t, func(t *testing.T, b *filestest.Bench) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		r := b.CallIn(ctx, "search_files", given{"pattern": "zzz", "path": "/proc"})
		if r.Err != nil || !strings.Contains(r.Text("_warning"), "(/proc, /sys, /dev) was not searched") || strings.Contains(r.JSON, "time limit") {
			t.Errorf("/proc: %v, %s", r.Err, r.JSON)
		}
		r = b.CallIn(ctx, "search_files", given{"pattern": "(?i)version", "path": "/proc/version"})
		if r.Err != nil || r.Num("total_count") != 1 {
			t.Errorf("a file there: %v, %s", r.Err, r.JSON)
		}
		b.Put("one", "needle\n")
		r = b.CallIn(ctx, "search_files", given{"pattern": "needle"}) // and ripgrep is still asked
		if r.Num("total_count") != 1 {
			t.Errorf("elsewhere: %s", r.JSON)
		}
	})
}
