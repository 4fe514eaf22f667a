package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hermes-go/hermes/chat"
)

// locks counts the locks that this process holds on a file.
func locks(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	n, inode := 0, fmt.Sprintf(":%d", info.Sys().(*syscall.Stat_t).Ino)
	for line := range strings.Lines(string(b)) {
		// "1: POSIX  ADVISORY  READ  4711 fe:00:1234 1073741826 1073742335"
		f := strings.Fields(line)
		if len(f) >= 6 && f[1] == "POSIX" && f[4] == fmt.Sprint(os.Getpid()) && strings.HasSuffix(f[5], inode) {
			n++
		}
	}
	return n
}

// F-116: a file that is opened a second time in one process and closed again
// takes the locks of the first opening with it, and another process may then
// throw the log away under it. Whatever is done with an open database, a
// VACUUM under way or not, the locks stay.
func TestF116LocksStay(t *testing.T) {
	t.Parallel()
	ctx, d := t.Context(), open(t)
	for s := range 20 {
		say(t, d, fmt.Sprint("s", s), chat.UserText(strings.Repeat("words of a long talk ", 500)), chat.AssistantText("yes"))
	}
	if locks(t, d.Path()) == 0 {
		t.Fatal("an open database holds no lock: nothing is tested here")
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	vacuumed := make(chan struct{}, 1)
	wg.Go(func() {
		for stop.Err() == nil {
			if err := d.Vacuum(stop); err != nil && stop.Err() == nil {
				t.Errorf("vacuum: %v", err)
				return
			}
			select {
			case vacuumed <- struct{}{}:
			default:
			}
		}
	})
	dir := t.TempDir()
	for name, do := range map[string]func() error{
		"check":  func() error { _, err := d.Check(ctx); return err },
		"backup": func() error { return d.Backup(ctx, filepath.Join(dir, "backup.db")) },
		"copy":   func() error { return Copy(ctx, d.Path(), filepath.Join(dir, "copy.db")) },
		"export": func() error { return d.Export(ctx, &strings.Builder{}, JSONL) },
		"stats":  func() error { _, err := d.Stats(ctx, d.now()); return err },
		"image":  func() error { _, err := loadImage(ctx, d.dsn(), d.path); return err },
		"open again": func() error {
			again, err := Open(d.Path(), Options{})
			if err != nil {
				return err
			}
			if _, err := again.List(ctx, Filter{}); err != nil {
				return err
			}
			return again.Close()
		},
	} {
		<-vacuumed
		if err := do(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, tail := range []string{"", "-shm"} {
			if locks(t, d.Path()+tail) == 0 {
				t.Errorf("%s: the locks on state.db%s are gone", name, tail)
			}
		}
	}
}
