package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
)

// What can be kept neither in the database nor beside it goes to the spare
// folder and comes back from there; a write that failed half way costs only
// itself.
func TestSpareSpool(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	told := &notices{}
	o := Options{Spare: filepath.Join(t.TempDir(), "spare"), Notice: told.add}
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+".spool", 0o700); err != nil { // nothing can be written there
		t.Fatal(err)
	}
	d, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Create(ctx, Session{ID: "s", Title: "kept"}); err != nil {
		t.Fatal(err)
	}
	spare := d.spoolPaths()[1]
	f, err := os.OpenFile(spare, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"id":"s","messages":[{"role":"user","content":"cut o`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(ctx, "s", chat.UserText("one")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(told.String(), spare) {
		t.Errorf("told %q, not %s", told, spare)
	}
	_ = d.Close() // it is no database
	for _, name := range []string{path, path + ".spool"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	e, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	rec, err := e.Load(ctx, "s")
	if err != nil || rec.Title != "kept" || len(rec.Messages) != 1 || rec.Messages[0].Content.Text != "one" {
		t.Errorf("%+v, %v", rec, err)
	}
	if left := e.spooled(); len(left) != 0 {
		t.Error(left)
	}
}
