package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/store"
)

var homeTime = flag.Duration("home.time", 10*time.Second, "how long eight programs work on one home")

// house is a home whose model answers everything with its echo.
type house struct {
	*testing.T
	dir, bin, tmp string
	model         *fakemodel.Server
	as            func(*exec.Cmd)
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, dir: filepath.Join(t.TempDir(), "home"), bin: filepath.Join(binDir, "hermes"), tmp: t.TempDir(), as: func(*exec.Cmd) {}}
	h.model = fakemodel.New(t, fakemodel.Reply{Func: func(r fakemodel.Request) fakemodel.Reply {
		last := ""
		for _, m := range r.Messages() {
			if m.Role == chat.User {
				last = m.Content.String()
			}
		}
		return fakemodel.Text(answerTo(last))
	}}).Repeat()
	h.configure()
	return h
}

func (h *house) configure() {
	h.Helper()
	cfg := fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\n", h.model.V1())
	if err := errors.Join(os.MkdirAll(h.dir, 0o700), os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(cfg), 0o600)); err != nil {
		h.Fatal(err)
	}
}

func answerTo(text string) string { return "The echo of <" + text + ">." }

func (h *house) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(h.Context(), h.bin, args...)
	c.Dir = h.tmp
	c.Env = []string{"HOME=" + h.tmp, "HERMES_HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + h.tmp}
	h.as(c)
	return c
}

// run runs the program to its end.
func (h *house) run(args ...string) (stdout, stderr string, code int) {
	h.Helper()
	c := h.command(args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			h.Errorf("hermes %v: %v", args, err)
		}
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// ok is run where nothing may fail.
func (h *house) ok(args ...string) (stdout, stderr string) {
	h.Helper()
	stdout, stderr, code := h.run(args...)
	if code != 0 {
		h.Errorf("hermes %v: exit %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout, stderr
}

// ask is a question from the command line, answered with exit code 0.
func (h *house) ask(text string, args ...string) (stderr string) {
	h.Helper()
	out, stderr := h.ok(append([]string{"chat", "-q", text}, args...)...)
	if strings.TrimSpace(out) != answerTo(text) {
		h.Errorf("asked %q: answered %q\n%s", text, out, stderr)
	}
	return stderr
}

// stored fails unless question and answer of every text are in the store, in
// this order and each once, in the session of the first one.
func (h *house) stored(texts ...string) {
	h.Helper()
	out, _ := h.ok("sessions", "export", "-")
	var want []string
	for _, text := range texts {
		want = append(want, text, answerTo(text))
	}
	for line := range strings.Lines(out) {
		var s struct{ Messages []struct{ Content string } }
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			h.Fatalf("%v: %s", err, line)
		}
		var got []string
		for _, m := range s.Messages {
			got = append(got, m.Content)
		}
		if slices.Contains(got, texts[0]) {
			if !slices.Equal(got, want) {
				h.Errorf("stored:\n%q\nsaid:\n%q", got, want)
			}
			return
		}
	}
	h.Errorf("%q is not stored", texts[0])
}

// talker is a conversation through pipes.
type talker struct {
	h    *house
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *watched
	errs *watched
}

// watched collects output and lets wait for it.
type watched struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	news chan struct{}
}

func newWatched() *watched { return &watched{news: make(chan struct{}, 1)} }

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(b)
	select {
	case w.news <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func (h *house) talk(args ...string) *talker {
	h.Helper()
	k := &talker{h: h, cmd: h.command(args...), out: newWatched(), errs: newWatched()}
	k.cmd.Stdout, k.cmd.Stderr = k.out, k.errs
	var err error
	if k.in, err = k.cmd.StdinPipe(); err != nil {
		h.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		h.Fatal(err)
	}
	return k
}

// say says a line and waits for the whole answer.
func (k *talker) say(text string) bool {
	k.h.Helper()
	if _, err := io.WriteString(k.in, text+"\n"); err != nil {
		k.h.Errorf("say %.200q: %v\n%s", text, err, k.errs)
		return false
	}
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for !strings.Contains(k.out.String(), answerTo(text)) {
		select {
		case <-k.out.news:
		case <-limit.C:
			k.h.Errorf("no answer to %.200q\n%.2000s\n%s", text, k.out, k.errs)
			return false
		}
	}
	return true
}

// leave ends the conversation as the end of a pipe does.
func (k *talker) leave() (stderr string) {
	k.h.Helper()
	if err := errors.Join(k.in.Close(), k.cmd.Wait()); err != nil {
		k.h.Errorf("the conversation ended with %v\n%s", err, k.errs)
	}
	return k.errs.String()
}

func (h *house) db() string { return filepath.Join(h.dir, "state.db") }

// clean fails when a person was told of trouble.
func (h *house) clean(what, stderr string) {
	h.Helper()
	for _, word := range []string{"Error", "Note:", "locked", "busy", "database", "panic", "Left", "Not as"} {
		if strings.Contains(stderr, word) {
			h.Errorf("%s: said %q", what, stderr)
			return
		}
	}
}

// TestEightAtOnce: three conversations, two askers, a searcher, a pruner and
// one who backs up share a home. Nothing is lost and no error is shown.
func TestEightAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	end := time.Now().Add(*homeTime)
	if testing.Short() {
		end = time.Now().Add(2 * time.Second)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var said [][]string
	var rounds [8]atomic.Int64
	keep := func(texts []string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, texts)
	}
	for i := range 3 {
		wg.Go(func() {
			k := h.talk()
			var mine []string
			for n := 0; time.Now().Before(end); n++ {
				text := fmt.Sprintf("word 备份方案 of talker %d number %d", i, n)
				if !k.say(text) {
					break
				}
				mine = append(mine, text)
				rounds[i].Add(1)
			}
			h.clean("talker", strings.ReplaceAll(k.leave(), h.dir, ""))
			keep(mine)
		})
	}
	for i := 3; i < 5; i++ {
		wg.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				text := fmt.Sprintf("word of asker %d number %d", i, n)
				h.clean("asker", h.ask(text))
				keep([]string{text})
				rounds[i].Add(1)
			}
		})
	}
	wg.Go(func() {
		for time.Now().Before(end) {
			_, stderr := h.ok("sessions", "search", "word OR 备份", "--json")
			h.clean("search", stderr)
			_, stderr = h.ok("sessions", "list", "--json")
			h.clean("list", stderr)
			rounds[5].Add(1)
		}
	})
	wg.Go(func() {
		for n := 0; time.Now().Before(end); n++ {
			text := fmt.Sprintf("short-lived %d", n)
			h.clean("asker of the short-lived", h.ask(text, "--source", "brief"))
			out, stderr := h.ok("sessions", "prune", "--older-than", "0", "--source", "brief", "-y", "--json", fmt.Sprintf("--vacuum=%v", n%4 == 0))
			h.clean("prune", stderr)
			if !strings.Contains(out, `"messages":2,`) {
				t.Errorf("pruned %s", out)
			}
			rounds[6].Add(1)
		}
	})
	wg.Go(func() {
		for n := 0; time.Now().Before(end); n++ {
			to := filepath.Join(h.tmp, "backup.zip")
			out, _ := h.ok("backup", "-o", to, "-f", "--json")
			if !strings.Contains(out, `"skipped":[]`) {
				t.Errorf("backup: %s", out)
			}
			other := &house{T: t, dir: filepath.Join(h.tmp, fmt.Sprint("other", n)), bin: h.bin, tmp: h.tmp, model: h.model, as: h.as}
			other.ok("import", "--force", to)
			_, stderr := other.ok("sessions", "repair", "--check")
			h.clean("a home put back", stderr)
			if err := os.RemoveAll(other.dir); err != nil {
				t.Error(err)
			}
			rounds[7].Add(1)
		}
	})
	wg.Wait()
	db, err := store.Open(h.db(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	checkSaid(t, db, said)
	if p, err := db.Check(t.Context()); err != nil || len(p) > 0 {
		t.Errorf("check: %v, %v", p, err)
	}
	if list, _ := filepath.Glob(h.db() + ".*"); slices.ContainsFunc(list, func(s string) bool { return !strings.HasSuffix(s, ".lock") }) {
		t.Errorf("left behind: %v", list)
	}
	var counts []int64
	for i := range rounds {
		n := rounds[i].Load()
		if counts = append(counts, n); n == 0 {
			t.Errorf("program %d did nothing", i)
		}
	}
	t.Logf("rounds: talkers %v, askers %v, searches %d, prunes %d, backups %d", counts[:3], counts[3:5], counts[5], counts[6], counts[7])
}

// checkSaid compares what was said with the store, session by session.
func checkSaid(t *testing.T, db *store.DB, said [][]string) {
	t.Helper()
	list, err := db.List(t.Context(), store.Filter{Limit: -1, Children: true})
	if err != nil {
		t.Fatal(err)
	}
	held := map[string][]string{}
	for _, s := range list {
		rec, err := db.Load(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range rec.Messages {
			texts = append(texts, m.Content.String())
		}
		if len(texts) > 0 {
			held[texts[0]] = texts
		}
	}
	for _, texts := range said {
		if len(texts) == 0 {
			continue
		}
		var want []string
		for _, text := range texts {
			want = append(want, text, answerTo(text))
		}
		if got := held[texts[0]]; !slices.Equal(got, want) {
			t.Errorf("stored %d messages of %d said, beginning with %q: %.300q", len(got), len(want), texts[0], got)
		}
	}
}

// settle merges the log into the database, so that it has all its pages.
func (h *house) settle() {
	h.Helper()
	db, err := store.Open(h.db(), store.Options{})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		h.Fatal(err)
	}
}

// zero overwrites a page of the database with zeros.
func (h *house) zero(page int) {
	h.Helper()
	f, err := os.OpenFile(h.db(), os.O_WRONLY, 0)
	if err != nil {
		h.Fatal(err)
	}
	_, err = f.WriteAt(make([]byte, 4096), int64(page-1)*4096)
	if err := errors.Join(err, f.Close()); err != nil {
		h.Fatal(err)
	}
}

func (h *house) pages() int {
	h.Helper()
	st, err := os.Stat(h.db())
	if err != nil {
		h.Fatal(err)
	}
	return int(st.Size() / 4096)
}

// F-115 with the whole program: a page of the database is zeroed between two
// chats and during one. The chat goes on, the fault and what mends it are named,
// and after the repair all that was said since is there.
func TestPageZeroed(t *testing.T) {
	t.Parallel()
	first := newHouse(t)
	first.ask("long ago")
	first.settle()
	pages := first.pages()
	told := atomic.Int64{}
	var wg sync.WaitGroup
	for page := 1; page <= pages; page++ {
		if testing.Short() && page%9 != 2 {
			continue
		}
		for _, during := range []bool{false, true} {
			wg.Go(func() {
				h := newHouse(t)
				h.ask("long ago")
				h.settle()
				var stderr string
				said := []string{"one", "two", "three"}
				if during {
					k := h.talk()
					said = append([]string{"zero"}, said...)
					k.say("zero")
					h.zero(page)
					for _, text := range said[1:] {
						k.say(text)
					}
					stderr = k.leave()
				} else {
					h.zero(page)
					k := h.talk()
					for _, text := range said {
						k.say(text)
					}
					stderr = k.leave()
					stderr += h.ask("by itself")
				}
				if strings.Contains(stderr, "damaged") {
					told.Add(1)
					if !strings.Contains(stderr, "hermes sessions repair") {
						t.Errorf("page %d, during %v: said %s", page, during, stderr)
					}
				}
				out, errs, code := h.run("sessions", "repair", "--json")
				if code != 0 || !strings.Contains(out, `"ok":true`) || !strings.Contains(out, `"spool":[]`) {
					t.Errorf("page %d, during %v: repair: exit %d\n%s%s\n%s", page, during, code, out, errs, stderr)
				}
				h.stored(said...)
				if !during {
					h.stored("by itself")
				}
				h.ok("sessions", "list", "--json")
				h.clean("after the repair", h.ask("afterwards"))
			})
			if page%2 == 0 {
				wg.Wait() // the machine is small
			}
		}
	}
	wg.Wait()
	if told.Load() == 0 {
		t.Error("no damage was told")
	}
	t.Logf("%d pages; damage was told in %d of the chats", pages, told.Load())
}

// Somebody deletes the database under a running conversation.
func TestDeletedDatabase(t *testing.T) {
	t.Parallel()
	for _, tails := range [][]string{{""}, {"", "-wal"}, {"", "-wal", "-shm"}} {
		h := newHouse(t)
		h.ask("long ago")
		k := h.talk()
		k.say("one")
		for _, tail := range tails {
			if err := os.Remove(h.db() + tail); err != nil {
				t.Error(err)
			}
		}
		k.say("two")
		h.ask("by another program")
		k.say("three")
		if stderr := k.leave(); !strings.Contains(stderr, "deleted while in use and has been put back") {
			t.Errorf("%q: said %q", tails, stderr)
		}
		h.stored("one", "two", "three")
		h.stored("long ago")
		h.stored("by another program")
		h.ok("sessions", "repair", "--check")
	}
}

// A home that the Python original wrote opens, lists, searches and resumes, and
// the original's statements work on it afterwards.
func TestHomeOfTheOriginal(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	data := filepath.Join("..", "..", "internal", "store", "testdata")
	sql, err := os.ReadFile(filepath.Join(data, "v11.sql"))
	if err != nil {
		t.Fatal(err)
	}
	python := func(stdin []byte, args ...string) string {
		c := exec.CommandContext(t.Context(), "python3", append([]string{filepath.Join(data, "original.py")}, args...)...)
		c.Stdin = bytes.NewReader(stdin)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("python3 (needed for this test): %v", err)
		}
		return string(out)
	}
	python(sql, "build", h.db())
	list, _ := h.ok("sessions", "list", "--json", "--limit", "100")
	var sessions []struct {
		ID    string
		Title string
	}
	if err := json.Unmarshal([]byte(list), &sessions); err != nil || len(sessions) == 0 {
		t.Fatalf("%v: %s", err, list)
	}
	for _, s := range sessions {
		h.ok("sessions", "show", s.ID, "--json")
		text := "gone on with " + s.ID
		out, stderr := h.ok("chat", "-q", text, "--resume", s.ID)
		if !strings.Contains(out, text) { // it may stand behind a question that was left open
			t.Errorf("%s: answered %s", s.ID, out)
		}
		h.clean("resume", stderr)
		if s.Title != "" {
			h.ok("sessions", "show", s.Title)
		}
	}
	out, _ := h.ok("sessions", "search", "gone", "--json")
	if got := strings.Count(out, `"session_id"`); got < len(sessions) {
		t.Errorf("found %d: %s", got, out)
	}
	found := python(nil, "search", h.db(), "gone", "echo")
	if strings.Count(found, ">>>gone<<<") < len(sessions) || !strings.Contains(found, `"integrity": ["ok"]`) {
		t.Errorf("the original finds %s", found)
	}
	python(nil, "append", h.db(), sessions[0].ID, "said by the original")
	if out, _ := h.ok("sessions", "search", "original", "--json"); !strings.Contains(out, "said by the >>>original<<<") {
		t.Errorf("found %s", out)
	}
}
