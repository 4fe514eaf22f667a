package backup

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/store"
)

var day = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func write1(t *testing.T, dir, name, text string, mode fs.FileMode) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), mode), os.Chmod(at, mode)); err != nil {
		t.Fatal(err)
	}
}

func read1(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// sample is a home with what homes have, among it what no backup holds.
func sample(t *testing.T) (string, *store.DB) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	for name, mode := range map[string]fs.FileMode{
		"config.yaml": 0o600, ".env": 0o600, "memories/MEMORY.md": 0o640, "scripts/run.sh": 0o755, "skills/a/SKILL.md": 0o644, "profiles/work/config.yaml": 0o600,
		"state.db.spool": 0o600, "empty": 0o600,
		".git/HEAD": 0o600, "skills/a/__pycache__/x.pyc": 0o600, "checkpoints/1/x": 0o600, "backups/old.zip": 0o600, "gateway.pid": 0o600, "kanban.db-wal": 0o600,
		"profiles/work/backups/old.zip": 0o600, "hermes-backup-1.zip": 0o600, "node_modules/x/y.js": 0o600,
	} {
		text := "content of " + name
		if name == "empty" {
			text = ""
		}
		write1(t, home, name, text, mode)
	}
	if err := os.Remove(filepath.Join(home, "kanban.db-wal")); err != nil { // a log without its database is nobody's
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "SOUL.md")
	write1(t, filepath.Dir(outside), "SOUL.md", "soul", 0o600)
	for link, to := range map[string]string{"SOUL.md": outside, "skills/b": "a", "broken": "nowhere", "tmp": t.TempDir()} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(filepath.Join(home, "state.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test may have taken its file away
	if err := db.Append(t.Context(), "s", chat.UserText("hello")); err != nil {
		if err = errors.Join(db.Create(t.Context(), store.Session{ID: "s"}), db.Append(t.Context(), "s", chat.UserText("hello"))); err != nil {
			t.Fatal(err)
		}
	}
	write1(t, home, "state.db.spool", "content of state.db.spool", 0o600)
	return home, db
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	home, db := sample(t)
	to := filepath.Join(home, "mine.zip") // in the home itself
	w, err := Write(ctx, home, to, day, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.OpenReader(to)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range r.File {
		if !strings.HasSuffix(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	slices.Sort(names)
	want := []string{
		".env", "SOUL.md", "broken", "config.yaml", "empty", "memories/MEMORY.md", "profiles/work/config.yaml", "scripts/run.sh", "skills/a/SKILL.md",
		"skills/b", "state.db", "state.db.spool",
	}
	if !slices.Equal(names, want) {
		t.Errorf("holds %q", names)
	}
	if w.Files != len(want) || len(w.Skipped) != 1 || w.Skipped[0].Name != "tmp" {
		t.Errorf("%+v", w)
	}
	if st, err := os.Stat(to); err != nil || st.Mode().Perm() != 0o600 || st.Size() != w.Size {
		t.Errorf("%v, %v", st, err)
	}
	if _, err := Write(ctx, home, to, day, false); err == nil {
		t.Error("an existing file was replaced")
	}

	// Into a home that holds other things.
	other := filepath.Join(t.TempDir(), "other")
	write1(t, other, "config.yaml", "theirs", 0o644)
	write1(t, other, "notes.txt", "stays", 0o600)
	write1(t, other, "state.db-wal", "an old log", 0o600)
	write1(t, other, "memories", "a file where a folder goes", 0o600)
	a, err := Open(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if !a.Made.Equal(day) || a.Files != len(want) {
		t.Errorf("made %v, %d files", a.Made, a.Files)
	}
	out, err := a.Restore(ctx, other, day)
	if err != nil {
		t.Fatal(err)
	}
	if out.Files != len(want) || out.Replaced != 2 || len(out.Skipped) != 0 {
		t.Errorf("%+v", out)
	}
	for name, text := range map[string]string{"config.yaml": "content of config.yaml", "notes.txt": "stays", "SOUL.md": "soul", "skills/b/SKILL.md": "content of skills/a/SKILL.md", "empty": ""} {
		if got := read1(t, other, name); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	for name, text := range map[string]string{"config.yaml": "theirs", "state.db-wal": "an old log", "memories": "a file where a folder goes"} {
		if got := read1(t, out.Aside, name); got != text {
			t.Errorf("aside %s: %q", name, got)
		}
	}
	for name, mode := range map[string]fs.FileMode{"scripts/run.sh": 0o755, "memories/MEMORY.md": 0o640, ".env": 0o600, "state.db": 0o600} {
		if st, err := os.Stat(filepath.Join(other, name)); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, st.Mode(), err)
		}
	}
	if list, _ := filepath.Glob(filepath.Join(other, stagingPrefix+"*")); len(list) > 0 {
		t.Error(list)
	}
	if err := os.Remove(filepath.Join(other, "state.db.spool")); err != nil {
		t.Error(err)
	}
	got, err := store.Open(filepath.Join(other, "state.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Close() }()
	if rec, err := got.Load(ctx, "s"); err != nil || len(rec.Messages) != 1 || got.Trouble() != nil {
		t.Errorf("%+v, %v", rec, err)
	}

	// Into the home it came from, while that is open.
	if out, err = a.Restore(ctx, home, day); err != nil || out.Replaced == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	_ = os.Remove(filepath.Join(home, "state.db.spool"))
	if err := db.Append(ctx, "s", chat.UserText("after")); err != nil {
		t.Fatal(err)
	}
	if rec, err := db.Load(ctx, "s"); err != nil || len(rec.Messages) != 2 {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	home, db := sample(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b := []byte(read1(t, home, "state.db"))
	clear(b[4096:8192])
	write1(t, home, "state.db", string(b), 0o600)
	w, err := Write(t.Context(), home, filepath.Join(t.TempDir(), "x.zip"), day, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Skipped) != 2 || !strings.Contains(w.Skipped[1].Reason, "sessions repair") {
		t.Errorf("%+v", w.Skipped)
	}
	snap, err := Quick(t.Context(), home, "", day)
	if err != nil || snap.Files != 3 || len(snap.Skipped) != 1 || read1(t, snap.Path, "state.db") != string(b) {
		t.Errorf("%+v, %v", snap, err)
	}
	a, err := Open(t.Context(), w.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	to := t.TempDir()
	if _, err := a.Restore(t.Context(), to, day); err != nil || read1(t, to, "state.db") != string(b) {
		t.Errorf("not as it was: %v", err)
	}
}

type member struct {
	text string
	mode fs.FileMode
}

func makeZip(t *testing.T, members map[string]member, double ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range append(slices.Sorted(maps.Keys(members)), double...) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		h.SetMode(members[name].mode | 0o600)
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(members[name].text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestRefused(t *testing.T) {
	t.Parallel()
	cfg := member{text: "a: 1\n"}
	for name, c := range map[string]struct {
		members map[string]member
		double  []string
		want    string
	}{
		"parent":      {map[string]member{"config.yaml": cfg, "../evil": {}}, nil, "leads out of the home"},
		"deep parent": {map[string]member{"config.yaml": cfg, "a/../../evil": {}}, nil, "leads out of the home"},
		"absolute":    {map[string]member{"config.yaml": cfg, "/etc/passwd": {}}, nil, "leads out of the home"},
		"backslash":   {map[string]member{"config.yaml": cfg, `..\evil`: {}}, nil, "leads out of the home"},
		"NUL":         {map[string]member{"config.yaml": cfg, "a\x00b": {}}, nil, "leads out of the home"},
		"through a link": {
			map[string]member{"config.yaml": cfg, "a": {"skills", fs.ModeSymlink}, "a/x": {}},
			nil,
			"as a file and as a folder",
		},
		"twice":          {map[string]member{"config.yaml": cfg}, []string{"config.yaml"}, "twice"},
		"only in case":   {map[string]member{"config.yaml": cfg, "Config.yaml": cfg}, nil, "twice"},
		"device":         {map[string]member{"config.yaml": cfg, "dev": {"", fs.ModeDevice}}, nil, "neither file nor folder"},
		"no home":        {map[string]member{"holiday.jpg": {}}, nil, "no backup of a home"},
		"empty":          {nil, nil, "no backup of a home"},
		"not a database": {map[string]member{"state.db": {text: "hello"}}, nil, "is no database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a, err := Open(t.Context(), makeZip(t, c.members, c.double...)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v", a, err)
			}
		})
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	name := makeZip(t, map[string]member{"config.yaml": {text: strings.Repeat("abc", 10_000)}})
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{"cut": whole[:len(whole)/2], "nothing": nil, "text": []byte("hello")} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), name); err == nil || !strings.Contains(err.Error(), "no zip file") {
			t.Errorf("%s: %v", what, err)
		}
	}
	flipped := bytes.Clone(whole)
	flipped[60] ^= 0xff
	if err := os.WriteFile(name, flipped, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), name); err == nil {
		t.Error("a flipped byte was not noticed")
	}
}

// A zip of the original: a folder around everything, files that belong to
// running programs, a link out of the home.
func TestForeign(t *testing.T) {
	t.Parallel()
	name := makeZip(t, map[string]member{
		".hermes/config.yaml": {text: "a: 1\n"}, ".hermes/gateway.pid": {text: "1"}, ".hermes/out": {"/etc", fs.ModeSymlink}, ".hermes/in": {"config.yaml", fs.ModeSymlink},
		".hermes/checkpoints/1/HEAD": {},
	})
	a, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	home := t.TempDir()
	out, err := a.Restore(t.Context(), home, day)
	if err != nil || out.Files != 2 || len(out.Skipped) != 1 || out.Skipped[0].Name != "out" || out.Aside != "" {
		t.Errorf("%+v, %v", out, err)
	}
	if got := read1(t, home, "in"); got != "a: 1\n" {
		t.Errorf("%q", got)
	}
	for _, none := range []string{"gateway.pid", "out", "checkpoints", ".hermes"} {
		if _, err := os.Lstat(filepath.Join(home, none)); err == nil {
			t.Errorf("%s was made", none)
		}
	}
}

// A failure in the middle leaves the home as it was.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	name := makeZip(t, map[string]member{"a.txt": {text: "new"}, "config.yaml": {text: "new"}, "z.txt": {text: "new"}})
	a, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	home := t.TempDir()
	for _, n := range []string{"a.txt", "config.yaml"} {
		write1(t, home, n, "old", 0o600)
	}
	r := &restorer{a: a, home: home, out: Restored{Home: home}, aside: filepath.Join(home, "backups", "replaced"), stage: filepath.Join(home, stagingPrefix+"1")}
	if err := errors.Join(os.Mkdir(r.stage, 0o700), r.unpack(t.Context()), os.Remove(filepath.Join(r.stage, "z.txt"))); err != nil {
		t.Fatal(err)
	}
	for i, ok := range []bool{true, true, false} {
		if err := r.place(&a.entries[i]); (err == nil) != ok {
			t.Fatalf("entry %d: %v", i, err)
		}
	}
	if read1(t, home, "a.txt") != "new" || r.out.Replaced != 2 {
		t.Errorf("%+v", r.out)
	}
	if err := errors.Join(r.takeBack(), os.RemoveAll(r.stage)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"a.txt", "config.yaml"} {
		if got := read1(t, home, n); got != "old" {
			t.Errorf("%s: %q", n, got)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	if out, err := b.Restore(ctx, home, day); err == nil || !strings.Contains(err.Error(), "as it was") {
		t.Errorf("%+v, %v", out, err)
	}
	if got := read1(t, home, "a.txt"); got != "old" {
		t.Errorf("%q", got)
	}
	list, err := os.ReadDir(home)
	if err != nil || len(list) > 3 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestQuick(t *testing.T) {
	t.Parallel()
	home, _ := sample(t)
	var last Snapshot
	for i := range Snapshots + 3 {
		s, err := Quick(t.Context(), home, "before / update", day.Add(time.Duration(i)*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if last = s; s.Files != 3 || !strings.HasSuffix(s.ID, "-before---update") {
			t.Fatalf("%+v", s)
		}
	}
	list, err := os.ReadDir(filepath.Join(home, "state-snapshots"))
	if err != nil || len(list) != Snapshots || len(last.Removed) != 1 {
		t.Errorf("%d snapshots, removed %v, %v", len(list), last.Removed, err)
	}
	if got := read1(t, last.Path, ".env"); got != "content of .env" {
		t.Errorf("%q", got)
	}
}
