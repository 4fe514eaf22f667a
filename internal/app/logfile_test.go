package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogRotates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "logs", "agent.log")
	l, other := &logFile{path: path, most: 100, keep: 2}, &logFile{path: path, most: 100, keep: 2}
	defer l.Close()
	defer other.Close()
	line := strings.Repeat("x", 39) + "\n"
	for i := range 10 {
		w := l
		if i%3 == 0 {
			w = other
		}
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	sum := 0
	for _, name := range []string{"", ".1", ".2"} {
		b, err := os.ReadFile(path + name)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 100 || len(b) == 0 {
			t.Errorf("agent.log%s has %d bytes", name, len(b))
		}
		sum += len(b)
	}
	if sum != 6*40 {
		t.Errorf("%d bytes are left: two full files and their like", sum)
	}
	if _, err := os.Stat(path + ".3"); err == nil {
		t.Error("more old files than asked for")
	}
}
