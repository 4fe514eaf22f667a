package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// notices collects what a person was told.
type notices struct {
	mu   sync.Mutex
	list []string
}

func (n *notices) add(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var t *Trouble
	if errors.As(err, &t) {
		n.list = append(n.list, string(t.Fault)+": "+t.Error())
	}
}

func (n *notices) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, "\n")
}

func openNoticed(t *testing.T, path string) (*DB, *notices) {
	t.Helper()
	n := &notices{}
	d, err := Open(path, Options{Notice: n.add, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // a damaged file may fail to close; it was told already
	return d, n
}

// sample is a database of some pages, as bytes.
func sample(t *testing.T) []byte {
	t.Helper()
	d := open(t)
	for s := range 5 {
		var m []chat.Message
		for i := range 12 {
			m = append(m, chat.UserText(fmt.Sprintf("message %d of session %d 备份方案 %s", i, s, strings.Repeat("word ", 40))))
		}
		m[3].Content.Text = "long " + strings.Repeat("overflow ", 600)
		m[4].Usage = &chat.Usage{Input: 1}
		say(t, d, fmt.Sprintf("s%d", s), m...)
	}
	if _, err := d.Undo(t.Context(), "s4", 1); err != nil {
		t.Fatal(err)
	}
	path := d.BackupName(t.TempDir())
	if err := d.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// F-115, for every page of the file: a message said afterwards is never lost,
// the fault is told with the command that mends it, and after the repair all
// rows of other pages are there.
func TestZeroedPage(t *testing.T) {
	t.Parallel()
	whole := sample(t)
	const total = 5*12 - 1
	pages := len(whole) / 4096
	spooled, mended := 0, 0
	for n := range pages {
		if n >= 6 && (n%8 != 0 || racing) && !*thorough {
			continue
		}
		ctx := t.Context()
		path := filepath.Join(t.TempDir(), "state.db")
		b := bytes.Clone(whole)
		clear(b[n*4096 : (n+1)*4096])
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		d, told := openNoticed(t, path)
		if err := d.Create(ctx, Session{ID: "new"}); err != nil {
			t.Fatalf("page %d: create: %v", n+1, err)
		}
		for i := range 3 {
			if err := d.Append(ctx, "new", chat.UserText(fmt.Sprint("afterwards ", i))); err != nil {
				t.Fatalf("page %d: append: %v", n+1, err)
			}
		}
		if len(d.spooled()) > 0 {
			spooled++
		}
		if s := told.String(); s != "" && !strings.Contains(s, "hermes sessions repair") {
			t.Errorf("page %d: told %q", n+1, s)
		}
		rep, err := d.Repair(ctx)
		if err != nil {
			t.Errorf("page %d: repair: %v (%v)", n+1, err, rep.Problems)
			continue
		}
		if rep.Aside != "" {
			mended++
		}
		left, err := d.Check(ctx)
		if err != nil || len(left) > 0 {
			t.Errorf("page %d: after repair: %v, %v", n+1, left, err)
		}
		rec, err := d.Load(ctx, "new")
		if err != nil || len(rec.Messages) != 3 || rec.Messages[2].Content.Text != "afterwards 2" {
			t.Errorf("page %d: new session: %+v, %v", n+1, rec, err)
		}
		// A page holds about ten of these messages; an overflow page one.
		if rep.Messages < total-14+3 || rep.Messages > total+3 {
			t.Errorf("page %d: %d messages after repair, index only %v, aside %q", n+1, rep.Messages, rep.Index, rep.Aside)
		}
		if hits := snippets(t, d, Query{Text: "afterwards"}); len(hits) != 3 {
			t.Errorf("page %d: search: %v", n+1, hits)
		}
		if hits := snippets(t, d, Query{Text: "备份方案", Limit: 200}); len(hits) < total-5-14 {
			t.Errorf("page %d: search: %d hits", n+1, len(hits))
		}
		if err := d.Close(); err != nil {
			t.Errorf("page %d: close: %v", n+1, err)
		}
	}
	t.Logf("%d pages: %d spooled, %d salvaged", pages, spooled, mended)
	if mended == 0 || spooled == 0 {
		t.Error("nothing was damaged")
	}
}

// Damage that comes while the file is open.
func TestDamageWhileOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	d, told := openNoticed(t, path)
	ctx := t.Context()
	say(t, d, "live", chat.UserText("before"))
	if err := d.writer.exec(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(b[2*4096 : len(b)-4096])
	if err := os.WriteFile(path, b, 0o600); err != nil { // truncates and writes the same file
		t.Fatal(err)
	}
	other, _ := openNoticed(t, path) // no page in its cache
	for i := range 3 {
		if err := errors.Join(d.Append(ctx, "live", chat.UserText(fmt.Sprint("more ", i))), other.Create(ctx, Session{ID: "other"}), other.Append(ctx, "other", chat.UserText("x"))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Repair(ctx); err != nil {
		t.Fatal(err)
	}
	// The first process still has the old file open and finds the new one.
	if err := d.Append(ctx, "live", chat.UserText("after repair")); err != nil {
		t.Fatal(err)
	}
	for id, n := range map[string]int{"live": 4, "other": 3} {
		r, err := d.Load(ctx, id)
		if err != nil || len(r.Messages) < n {
			t.Errorf("%s: %+v, %v\n%s", id, r, err, told)
		}
	}
	if len(other.spooled()) != 0 {
		t.Error(other.spooled())
	}
}

// Damage to the search index stops neither storing nor finding.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	d, told := openNoticed(t, filepath.Join(t.TempDir(), "state.db"))
	ctx := t.Context()
	say(t, d, "s", chat.UserText("before 备份方案"))
	if err := d.writer.script(ctx, "UPDATE messages_fts_data SET block=zeroblob(20)"); err != nil {
		t.Fatal(err)
	}
	if err := d.writer.script(ctx, "UPDATE messages_fts_trigram_data SET block=x'ffffffff'"); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := d.Append(ctx, "s", chat.UserText(fmt.Sprint("later 备份方案 ", i))); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []string{"later", "备份方案"} {
		if h := snippets(t, d, Query{Text: q}); len(h) < 3 {
			t.Errorf("%s: %v", q, h)
		}
	}
	if len(d.spooled()) != 0 || !strings.Contains(told.String(), "search index") {
		t.Errorf("spool %v, told %s", d.spooled(), told)
	}
	rep, err := d.Repair(ctx)
	if err != nil || !rep.Index || rep.Aside != "" || rep.Messages != 4 {
		t.Errorf("%+v, %v", rep, err)
	}
	if err := d.Append(ctx, "s", chat.UserText("newest 备份方案")); err != nil {
		t.Fatal(err)
	}
	if h := snippets(t, d, Query{Text: "备份方案"}); len(h) != 5 {
		t.Error(h)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	d, told := openNoticed(t, filepath.Join(t.TempDir(), "state.db"))
	ctx := t.Context()
	say(t, d, "s", chat.UserText("before"))
	if err := d.writer.script(ctx, "PRAGMA max_page_count=1"); err != nil { // clamps to the present size
		t.Fatal(err)
	}
	long := strings.Repeat("fill the page ", 3000)
	for i := range 3 {
		if err := d.Append(ctx, "s", chat.UserText(fmt.Sprint(i, " ", long))); err != nil {
			t.Fatal(err)
		}
	}
	if s := told.String(); strings.Count(s, "\n") != 0 || !strings.HasPrefix(s, "disk full") || !strings.Contains(s, ".spool") || d.Trouble() == nil {
		t.Errorf("told %q, trouble %v", s, d.Trouble())
	}
	if err := d.writer.script(ctx, "PRAGMA max_page_count=1000000"); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(ctx, "s", chat.UserText("space again")); err != nil {
		t.Fatal(err)
	}
	r, err := d.Load(ctx, "s")
	if err != nil || len(r.Messages) != 5 || r.Messages[1].Content.Text[:1] != "0" || r.Messages[4].Content.Text != "space again" || r.Session.Messages != 5 {
		t.Errorf("%d messages, %v", len(r.Messages), err)
	}
	if d.Trouble() != nil || len(d.spooled()) != 0 {
		t.Errorf("trouble %v, spool %v", d.Trouble(), d.spooled())
	}
}

// The spool of a process that died is taken in by the next one, once, and the
// rest of a write that failed half way is left out.
func TestSpoolTakenInOnce(t *testing.T) {
	t.Parallel()
	d, _ := openNoticed(t, filepath.Join(t.TempDir(), "state.db"))
	ctx := t.Context()
	say(t, d, "s", chat.UserText("before"))
	r, err := toRow(chat.UserText("spooled"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.keep(Session{ID: "s", Source: "cli"}, []rawRow{{row: r, at: 1}}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(d.spoolPath())
	if err != nil {
		t.Fatal(err)
	}
	twice := append(append(bytes.Clone(b), b...), `{"id":"s","messages":[{"role":"user","content":"cut o`...)
	for _, name := range []string{d.spoolPath(), d.spoolPath() + ".LEFTOVER"} {
		if err := os.WriteFile(name, twice, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { openAt(t, d.Path()) })
	}
	wg.Wait()
	rec, err := d.Load(ctx, "s")
	if err != nil || len(rec.Messages) != 2 || rec.Messages[1].Content.Text != "spooled" {
		t.Errorf("%+v, %v", rec, err)
	}
	if len(d.spooled()) != 0 {
		t.Error(d.spooled())
	}
}

func TestDeletedFile(t *testing.T) {
	t.Parallel()
	for _, which := range [][]string{{""}, {"", "-wal"}, {"", "-wal", "-shm"}} {
		d, told := openNoticed(t, filepath.Join(t.TempDir(), "state.db"))
		e, _ := openNoticed(t, d.Path())
		ctx := t.Context()
		say(t, d, "s", chat.UserText("one"))
		say(t, e, "e", chat.UserText("one"))
		say(t, d, "past", chat.UserText("kept 备份方案"))
		for _, tail := range which {
			if err := os.Remove(d.Path() + tail); err != nil {
				t.Fatal(err)
			}
		}
		for _, db := range []*DB{d, e} {
			id := map[*DB]string{d: "s", e: "e"}[db]
			if err := db.Append(ctx, id, chat.UserText("two")); err != nil {
				t.Fatal(err)
			}
		}
		f := openAt(t, d.Path())
		for _, db := range []*DB{d, e, f} {
			for id, n := range map[string]int{"s": 2, "e": 2, "past": 1} {
				if r, err := db.Load(ctx, id); err != nil || len(r.Messages) != n {
					t.Errorf("%v %s: %+v, %v", which, id, r, err)
				}
			}
		}
		if !strings.HasPrefix(told.String(), "gone") {
			t.Errorf("told %q", told)
		}
		if h := snippets(t, f, Query{Text: "备份方案"}); len(h) != 1 {
			t.Error(h)
		}
	}
}

// Somebody puts an older copy in place of the file.
func TestReplacedFile(t *testing.T) {
	t.Parallel()
	d, _ := openNoticed(t, filepath.Join(t.TempDir(), "state.db"))
	ctx := t.Context()
	say(t, d, "s", chat.UserText("one"))
	old := d.BackupName(t.TempDir())
	if err := d.Backup(ctx, old); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(ctx, "s", chat.UserText("two")); err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"-wal", "-shm"} {
		if err := os.Remove(d.Path() + tail); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(old, d.Path()); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(ctx, "s", chat.UserText("three")); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Load(ctx, "s"); err != nil || len(r.Messages) != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNotADatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	d, told := openNoticed(t, path)
	ctx := t.Context()
	say(t, d, "s", chat.UserText("one"))
	if !strings.HasPrefix(told.String(), "damaged") {
		t.Errorf("told %q", told)
	}
	if _, err := d.Load(ctx, "s"); err == nil || !strings.Contains(err.Error(), "hermes sessions repair") {
		t.Error(err)
	}
	rep, err := d.Repair(ctx)
	if err != nil || rep.Aside == "" || rep.Messages != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
	if b, err := os.ReadFile(rep.Aside); err != nil || len(b) != 20000 {
		t.Errorf("the old file: %d bytes, %v", len(b), err)
	}
	// A second one within the second: nothing that was put aside is replaced.
	if err := errors.Join(d.Close(), os.WriteFile(path, []byte("nor is this"), 0o600)); err != nil {
		t.Fatal(err)
	}
	now := d.now()
	again, err := Open(path, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }() // only its repair counts
	if err := os.WriteFile(path+".damaged-"+now.UTC().Format("20060102-150405"), []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	rep2, err := again.Repair(ctx)
	if err != nil || !strings.HasSuffix(rep2.Aside, "-2") {
		t.Errorf("%+v, %v", rep2, err)
	}
	if b, err := os.ReadFile(rep2.Aside); err != nil || string(b) != "nor is this" {
		t.Errorf("the second old file: %q, %v", b, err)
	}
	if _, err := Open(filepath.Join(path, "below", "state.db"), Options{}); err != nil {
		t.Logf("a path through a file: %v", err)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	d := open(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	_, err := d.Load(ctx, "s")
	for _, err := range []error{err, d.Append(ctx, "s", chat.UserText("x")), d.Create(ctx, Session{ID: "s"}), d.Vacuum(ctx), d.Delete(ctx, "s")} {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

// Looking for something in a database that was deleted a moment ago finds it:
// whoever only reads makes no empty file in its place.
func TestReadDeleted(t *testing.T) {
	t.Parallel()
	d, told := openNoticed(t, filepath.Join(t.TempDir(), "state.db"))
	say(t, d, "old", chat.UserText("long ago"))
	for _, tail := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(d.Path() + tail); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	// A new opening of the readers: those that are open still see the old file.
	if err := d.setReaders(d.dsn()+"&mode=rw", d.shape); err != nil {
		t.Fatal(err)
	}
	if got := snippets(t, d, Query{Text: "ago"}); len(got) != 1 {
		t.Errorf("found %q; told %s", got, told)
	}
	if !strings.Contains(told.String(), string(Gone)) {
		t.Errorf("told %q", told)
	}
	if _, err := os.Stat(d.Path()); err != nil {
		t.Error(err)
	}
}
