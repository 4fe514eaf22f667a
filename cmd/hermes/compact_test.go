package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/store"
)

// worker is a model that works on with commands, each given once, and sums up
// when asked.
type worker struct {
	mu          sync.Mutex
	calls, sums int
	kill        *os.Process // killed when a summary is asked for
	killedAsked int
	bad         []string

	insists  string // the call that was open when the program died, asked for again
	insisted int
	refused  int // how often it was not begun
}

func (w *worker) answer(r fakemodel.Request) fakemodel.Reply {
	w.mu.Lock()
	defer w.mu.Unlock()
	u := &fakemodel.Usage{Input: len(r.Body) / 4, Output: 50}
	m := r.Messages()
	if strings.Contains(m[0].Content.String(), "running summary") {
		w.sums++
		if w.kill != nil {
			_ = w.kill.Kill()
			w.kill, w.killedAsked = nil, w.killedAsked+1
		}
		return fakemodel.Reply{Text: fmt.Sprintf("## Goal\nsum %d", w.sums), Usage: u}
	}
	if err := agent.CheckPairs(m); err != nil {
		w.bad = append(w.bad, err.Error())
	}
	last := m[len(m)-1]
	if w.insists != "" {
		if strings.Contains(last.Content.String(), "NOT RUN: this same call") {
			w.refused++
		}
		w.insists = ""
	} else if c := unknownCall(m); c != nil && last.Role == chat.User {
		// A careless model: it asks for what may have happened once more.
		w.insists = c.Function.Arguments
		w.insisted++
		return fakemodel.Reply{Calls: []fakemodel.Call{{ID: fmt.Sprintf("again%d", w.insisted), Name: "terminal", Args: w.insists}}, Usage: u}
	}
	if last.Role == chat.User || w.calls%8 != 0 {
		w.calls++
		return fakemodel.Reply{Calls: []fakemodel.Call{{ID: fmt.Sprintf("k%d", w.calls), Name: "terminal", Args: fmt.Sprintf(`{"command":"echo %d >> log; seq %d 1 %d"}`, w.calls, w.calls, w.calls+400)}}, Usage: u}
	}
	return fakemodel.Reply{Text: fmt.Sprintf("Done after call %d. %s", w.calls, strings.Repeat("So it is. ", 200)), Usage: u}
}

// unknownCall is the newest call, if nobody knows whether it took effect.
func unknownCall(m []chat.Message) *chat.ToolCall {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i].Role == chat.Tool && strings.Contains(m[i].Content.String(), "unknown: was running when the program died") {
			for j := i; j >= 0; j-- {
				for k := range m[j].ToolCalls {
					if m[j].ToolCalls[k].ID == m[i].ToolCallID {
						return &m[j].ToolCalls[k]
					}
				}
			}
		}
		if m[i].Role == chat.Assistant {
			return nil
		}
	}
	return nil
}

var kills = flag.Int("kills", 40, "how often TestKillWhileCompacting starts the program; 400 kill it at over 200 points")

// TestKillWhileCompacting kills the program at random points of a conversation
// that is compacted again and again, and goes on with it each time: every
// command ran at most once, no request is broken, the first message is found.
func TestKillWhileCompacting(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	w := &worker{}
	model := fakemodel.New(t, fakemodel.Reply{Func: w.answer}).Repeat()
	cfg := fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q, context_length: 12000}\nplatform_toolsets: {cli: [terminal]}\napprovals: {mode: \"off\"}\n", model.V1())
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	rounds, killed, compacted := *kills, 0, 0
	var slowest time.Duration
	more := func(i int) bool { // chance may not have hit a summary yet
		w.mu.Lock()
		defer w.mu.Unlock()
		return i < rounds || w.killedAsked < 2 && i < 3*rounds
	}
	for i := 0; more(i); i++ {
		args := []string{"chat", "--json", "--continue", "-q", fmt.Sprintf("go on with part %d", i)}
		if i == 0 {
			args = []string{"chat", "--json", "-q", "my cat is called Muffin; begin"}
		}
		events := -1                                // to the end
		if i > 0 && i < rounds-1 && r.IntN(3) > 0 { // else to the end, or to the next summary
			events = 2 + r.IntN(30)
		}
		began := time.Now()
		whenAsked := events < 0 && i > 0 && i != rounds-1
		first, n, done := runEvents(t, home, events, func(p *os.Process) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.kill = nil
			if whenAsked {
				w.kill = p
			}
		}, args...)
		compacted += n
		slowest = max(slowest, first.Sub(began))
		if !done {
			killed++
		}
		if events < 0 && !whenAsked && !done {
			t.Fatalf("round %d did not end well", i)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t.Logf("%d rounds, %d killed, %d of them while a summary was made, %d calls, %d times compacted, %d summaries, slowest resume %v", rounds, killed, w.killedAsked, w.calls, compacted, w.sums, slowest)
	if killed < 5 || w.killedAsked < 2 || w.sums < 3 {
		t.Errorf("killed %d times, %d summaries", killed, w.sums)
	}
	for _, b := range w.bad {
		t.Errorf("request: %s", b)
	}
	b, err := os.ReadFile(filepath.Join(home, "log"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, k := range strings.Fields(string(b)) {
		if ran[k]++; ran[k] > 1 {
			t.Errorf("command %s ran %d times", k, ran[k])
		}
	}
	db, err := store.Open(filepath.Join(home, "state.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	checkEffects(t, db, ran)
	if w.insisted > 0 && w.refused == 0 {
		t.Errorf("a call of unknown outcome was asked for again %d times and always begun", w.insisted)
	}
	t.Logf("%d calls of unknown outcome were asked for again, %d were not begun", w.insisted, w.refused)
	found := false
	for _, err := range db.Search(t.Context(), store.Query{Text: "Muffin"}) {
		found = found || err == nil
	}
	if !found {
		t.Error("the first message is not found")
	}
	if problems, err := db.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("the database: %v %v", problems, err)
	}
}

// checkEffects compares the record of effects with what happened.
func checkEffects(t *testing.T, db *store.DB, ran map[string]int) {
	t.Helper()
	tip, err := db.Latest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	effects, err := db.Effects(t.Context(), tip)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]effect.State{} // the furthest of each command
	for _, e := range effects {
		var args struct{ Command string }
		var k string
		if json.Unmarshal([]byte(e.Args), &args) == nil {
			_, _ = fmt.Sscanf(args.Command, "echo %s", &k)
		}
		if old := states[k]; old == "" || old == effect.NotRun {
			states[k] = e.State
		} else if e.State == effect.Done && old == effect.Done {
			t.Errorf("command %s is done twice", k)
		}
	}
	for k := range ran {
		if s := states[k]; s != effect.Done && s != effect.Unknown && s != effect.Running && s != effect.Failed {
			t.Errorf("command %s ran and is on record as %q", k, s)
		}
	}
	for k, s := range states {
		if s == effect.Done && ran[k] == 0 {
			t.Errorf("command %s is on record as done and did not run", k)
		}
	}
}

// runEvents runs the program, and kills it after so many events; -1: never.
// first is when the first event came.
func runEvents(t *testing.T, home string, events int, started func(*os.Process), args ...string) (first time.Time, compacted int, done bool) {
	t.Helper()
	c := hermesCommand(t, home, args...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	started(c.Process)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for n := 0; n != events && lines.Scan(); n++ {
		if n == 0 {
			first = time.Now()
		}
		var e struct{ Type, Status string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("event %q: %v", lines.Text(), err)
		}
		switch e.Type {
		case "compacted":
			compacted++
		case "done":
			done = e.Status == "ok"
			if !done {
				t.Errorf("%s", lines.Text())
			}
		}
	}
	if !done {
		_ = c.Process.Kill()
	}
	_, _ = io.Copy(io.Discard, out)
	_ = c.Wait()
	return first, compacted, done
}
