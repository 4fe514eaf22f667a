package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/compact"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/store"
)

// worker is a model that answers every message with a few commands, each of
// them once in its life, and sums up when asked.
type worker struct {
	mu      sync.Mutex
	window  int // tokens; more is refused
	calls   int
	sums    int
	refused int
	noSums  bool // summaries fail
	bad     []string
}

func (w *worker) reply() fakemodel.Reply { return fakemodel.Reply{Func: w.answer} }

func (w *worker) answer(r fakemodel.Request) fakemodel.Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := &fakemodel.Usage{Input: len(r.Body) / 4, Output: 50}
	if u.Input > w.window {
		w.refused++
		return fakemodel.Fail(400, fmt.Sprintf(`{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.","code":"context_length_exceeded"}}`, w.window, u.Input))
	}
	m := r.Messages()
	if strings.Contains(m[0].Content.String(), "running summary") {
		if w.noSums {
			return fakemodel.Fail(400, `{"error":{"message":"no summaries today","type":"invalid_request_error"}}`)
		}
		w.sums++
		return fakemodel.Reply{Text: fmt.Sprintf("## Active Task\nwork\n\n## Goal\nsum %d", w.sums), Usage: u}
	}
	if err := sound(m); err != nil {
		w.bad = append(w.bad, err.Error())
	}
	last := m[len(m)-1]
	if last.Role == chat.User || w.calls%3 != 0 {
		w.calls++
		return fakemodel.Reply{Calls: []fakemodel.Call{{ID: fmt.Sprintf("k%d", w.calls), Name: "terminal", Args: fmt.Sprintf(`{"command":"echo %d >> log; seq %d 1 %d"}`, w.calls, w.calls, w.calls+250)}}, Usage: u}
	}
	return fakemodel.Reply{Text: fmt.Sprintf("Done, after call %d.", w.calls), Usage: u}
}

// sound says what a service would refuse.
func sound(m []chat.Message) error {
	if err := agent.CheckPairs(m); err != nil {
		return err
	}
	ids := map[string]bool{}
	for i, x := range m {
		if i > 0 && x.Role == m[i-1].Role && x.Role != chat.Tool {
			return fmt.Errorf("two %s messages in a row", x.Role)
		}
		for _, c := range x.ToolCalls {
			if ids[c.ID] || !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("call %s twice or with bad arguments", c.ID)
			}
			ids[c.ID] = true
		}
	}
	return nil
}

func working(t *testing.T, w *worker, more string) (*App, *Conversation) {
	t.Helper()
	model := fakemodel.New(t, w.reply()).Repeat()
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q, context_length: %d}\nagent: {api_max_retries: 1}\n%s", model.V1(), w.window, more)})
	c, err := a.Converse(t.Context(), Ask{Toolsets: []string{"terminal", "todo"}, Yolo: true, Title: true})
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

func say(t *testing.T, c *Conversation, text string) (agent.Done, []agent.Event) {
	t.Helper()
	var events []agent.Event
	var done agent.Done
	for e, err := range c.Turn(t.Context(), text) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
		if d, ok := e.(agent.Done); ok {
			done = d
		}
	}
	return done, events
}

func compactions(events []agent.Event) int {
	n := 0
	for _, e := range events {
		if _, ok := e.(agent.Compacted); ok {
			n++
		}
	}
	return n
}

const facts = "my cat is called Muffin and the code of the shed is ZX-4471"

// TestThreeHundredTurns goes on for 300 turns with tools in a small window.
func TestThreeHundredTurns(t *testing.T) {
	t.Parallel()
	w := &worker{window: 16_000}
	a, c := working(t, w, "")
	began := time.Now()
	first, n, turns := c.ID, 0, 300
	if testing.Short() {
		turns = 60
	}
	for i := range turns {
		text := fmt.Sprintf("please do part %d of the work", i)
		if i == 0 {
			text = "Hello: " + facts
		}
		done, events := say(t, c, text)
		if done.Status != agent.OK {
			t.Fatalf("turn %d: %s: %v", i, done.Status, done.Err)
		}
		n += compactions(events)
	}
	t.Logf("%d turns, %d calls: %d times shortened, %d summaries, %d refused as too long, %v", turns, w.calls, n, w.sums, w.refused, time.Since(began))
	if w.sums < 10*turns/300 {
		t.Errorf("%d summaries", w.sums)
	}
	for _, b := range w.bad {
		t.Errorf("request: %s", b)
	}
	once(t, a, w.calls)

	db, err := a.DB()
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for h, err := range db.Search(t.Context(), store.Query{Text: "Muffin shed"}) {
		if err != nil {
			t.Fatal(err)
		}
		found = found || h.SessionID == first
	}
	if !found {
		t.Error("the facts of the first message are not found")
	}
	old, err := db.Session(t.Context(), first)
	if err != nil || old.EndReason != store.EndCompression {
		t.Errorf("the first session ended by %q, %v", old.EndReason, err)
	}
	now, err := db.Session(t.Context(), c.ID)
	if err != nil || now.Parent == "" || now.Title == old.Title || !strings.HasPrefix(now.Title, old.Title+" #") || now.Usage.Calls == 0 {
		t.Errorf("the session now: %+v, %v", now, err)
	}
	if root, err := db.Root(t.Context(), c.ID); err != nil || root != first {
		t.Errorf("the root of %s is %s, %v", c.ID, root, err)
	}
	if tip, err := db.Resume(t.Context(), old.Title); err != nil || tip != c.ID {
		t.Errorf("resuming by the first title gives %s, %v", tip, err)
	}
	rec, err := db.Load(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.CheckPairs(rec.Messages); err != nil {
		t.Errorf("stored: %v", err)
	}
	effects, err := db.Effects(t.Context(), c.ID)
	if err != nil || len(effects) != w.calls {
		t.Errorf("%d effects on record for %d calls, %v", len(effects), w.calls, err)
	}
	ran := map[string]bool{}
	for _, e := range effects {
		if e.State != effect.Done || ran[e.Signature] {
			t.Errorf("%+v, done before: %t", e, ran[e.Signature])
		}
		ran[e.Signature] = true
	}
	if err := c.End(t.Context(), store.EndClose); err != nil {
		t.Error(err)
	}
}

// once checks that the work was done, and every part of it once.
func once(t *testing.T, a *App, calls int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(a.WorkDir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	ran := strings.Fields(string(b))
	if len(ran) != calls {
		t.Errorf("%d commands ran for %d calls", len(ran), calls)
	}
	for i, x := range ran {
		if x != fmt.Sprint(i+1) {
			t.Fatalf("command %d ran as number %d", i+1, i)
		}
	}
}

// TestSummariesFail: nothing is lost, the person is told, and the session goes
// on.
func TestSummariesFail(t *testing.T) {
	t.Parallel()
	w := &worker{window: 12_000, noSums: true}
	a, c := working(t, w, "")
	first, told, n := c.ID, 0, 0
	for i := range 60 {
		text := fmt.Sprintf("part %d: %s", i, strings.Repeat("word ", 200))
		if i == 0 {
			text = facts
		}
		done, events := say(t, c, text)
		if done.Status != agent.OK {
			t.Fatalf("turn %d: %s: %v", i, done.Status, done.Err)
		}
		n += compactions(events)
		for _, e := range events {
			if notice, ok := e.(agent.Notice); ok && strings.Contains(notice.Text, "Everything is kept") {
				told++
			}
		}
	}
	t.Logf("%d times shortened, %d refused as too long, told %d times", n, w.refused, told)
	if told == 0 || c.ID == first {
		t.Errorf("told %d times; session %s", told, c.ID)
	}
	for _, b := range w.bad {
		t.Errorf("request: %s", b)
	}
	once(t, a, w.calls)
	// Everything that was said is in the store: the sessions of the line hold
	// all of the 60 messages.
	db, err := a.DB()
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for id := c.ID; id != ""; {
		rec, err := db.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rec.Messages {
			if m.Role == chat.User {
				said[m.Content.String()] = true
			}
		}
		id = rec.Parent
	}
	for i := 1; i < 60; i++ {
		if !said[fmt.Sprintf("part %d: %s", i, strings.Repeat("word ", 200))] {
			t.Errorf("message %d is lost", i)
		}
	}
}

func TestCompressCommand(t *testing.T) {
	t.Parallel()
	w := &worker{window: 100_000}
	a, c := working(t, w, "")
	for i := range 12 {
		say(t, c, fmt.Sprintf("part %d: %s", i, strings.Repeat("word ", 1500)))
	}
	first, key := c.ID, c.Key()
	before, after, err := c.Compress(t.Context(), "the database")
	if err != nil || after >= before || c.ID == first || c.Key() != key {
		t.Fatalf("%d to %d, %v; %s, key %s", before, after, err, c.ID, c.Key())
	}
	found := false
	for _, m := range c.History {
		found = found || strings.HasPrefix(m.Content.String(), compact.Marker)
	}
	if !found {
		t.Error("there is no summary")
	}
	if done, _ := say(t, c, "and go on"); done.Status != agent.OK {
		t.Errorf("afterwards: %v", done.Err)
	}
	// Another process goes on with it.
	again, err := a.Converse(t.Context(), Ask{Resume: first, Toolsets: []string{"terminal", "todo"}, Yolo: true})
	if err != nil || again.ID != c.ID || again.System != c.System || len(again.History) != len(c.History) {
		t.Errorf("resumed %s instead of %s, %v", again.ID, c.ID, err)
	}
	for _, b := range w.bad {
		t.Errorf("request: %s", b)
	}
}

// TestSummaryModel: the model configured for summaries is asked, and when it
// fails the conversation's own.
func TestSummaryModel(t *testing.T) {
	t.Parallel()
	w := &worker{window: 100_000}
	var asked []string
	var mu sync.Mutex
	model := fakemodel.New(t, fakemodel.Reply{Func: func(r fakemodel.Request) fakemodel.Reply {
		mu.Lock()
		asked = append(asked, r.Model())
		mu.Unlock()
		if r.Model() == "summer" {
			return fakemodel.Fail(400, `{"error":{"message":"no such model"}}`)
		}
		return w.answer(r)
	}}).Repeat()
	a := home(t, map[string]string{"config.yaml": fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q, context_length: 100000}\nagent: {api_max_retries: 1}\nauxiliary: {compression: {model: summer}}\n", model.V1())})
	c, err := a.Converse(t.Context(), Ask{Toolsets: []string{"todo", "terminal"}, Yolo: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		say(t, c, fmt.Sprintf("part %d: %s", i, strings.Repeat("word ", 1500)))
	}
	asked = nil
	first := c.ID
	if _, _, err := c.Compress(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(asked, " "); got != "summer fake" {
		t.Errorf("asked %s", got)
	}
	// What the side call cost is counted where it was made.
	db, err := a.DB()
	if err != nil {
		t.Fatal(err)
	}
	old, err := db.Session(t.Context(), first)
	if err != nil || old.Usage.Calls != 24+1 {
		t.Errorf("%d calls are counted, %v", old.Usage.Calls, err)
	}
}

// TestCompactWithoutDatabase: the conversation is made shorter though its
// database is damaged, and goes on.
func TestCompactWithoutDatabase(t *testing.T) {
	t.Parallel()
	w := &worker{window: 100_000}
	a, c := working(t, w, "")
	for i := range 6 {
		say(t, c, fmt.Sprintf("part %d: %s", i, strings.Repeat("word ", 1500)))
	}
	path := filepath.Join(a.Home, "state.db")
	for _, ext := range []string{"", "-wal", "-shm"} {
		if err := os.WriteFile(path+ext, []byte(strings.Repeat("no database ", 2000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, after, err := c.Compress(t.Context(), "")
	if err != nil || after >= before {
		t.Fatalf("%d to %d: %v", before, after, err)
	}
	done, _ := say(t, c, "go on")
	if done.Status != agent.OK {
		t.Errorf("afterwards: %s %v", done.Status, done.Err)
	}
	for _, b := range w.bad {
		t.Errorf("request: %s", b)
	}
}
