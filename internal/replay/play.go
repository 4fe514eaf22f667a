package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// Difference is where a replay departs from the record.
type Difference struct {
	Event    int    // counted from 1 over all turns
	Turn     int    // likewise
	Recorded string // "": the record has no event here
	Replayed string // "": the replay has none
}

func (d *Difference) Error() string {
	return fmt.Sprintf("event %d, in turn %d, differs\n  recorded: %s\n  replayed: %s", d.Event, d.Turn, orNone(d.Recorded), orNone(d.Replayed))
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// Cassette is a record that was read.
type Cassette struct {
	Head  Head
	turns []*turnPlay
}

// turnPlay is one turn of a record.
type turnPlay struct {
	turnLine
	answers     []*answerLine
	results     map[string][]*resultLine
	names       map[string]*resultLine // by name and arguments, for what a call touches
	plans       []*planLine
	states      []*statesLine
	compactions []*compactionLine
	events      []json.RawMessage
	ended       bool
	dispatched  int    // results
	stopped     string // why the turn was stopped while one of them was awaited
}

const mostLine = 256 << 20

// ErrEmpty says that nothing was said in a recorded conversation.
var ErrEmpty = errors.New("read the cassette: it holds no turn")

// Read reads a cassette. One whose end is missing, because the program died, is
// read as far as it goes.
func Read(r io.Reader) (*Cassette, error) {
	c := &Cassette{}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<20), mostLine)
	var t *turnPlay
	for n := 1; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("read the cassette: line %d: %w", n, err)
		}
		switch {
		case n == 1 && l.Head == nil:
			return nil, errors.New("read the cassette: this is none: its first line does not say so")
		case l.Head != nil:
			if c.Head = *l.Head; c.Head.Version > Version {
				return nil, fmt.Errorf("read the cassette: its format is version %d, this program reads up to %d", c.Head.Version, Version)
			}
			continue
		case l.Turn != nil:
			t = &turnPlay{turnLine: *l.Turn, results: map[string][]*resultLine{}, names: map[string]*resultLine{}}
			c.turns = append(c.turns, t)
			continue
		case t == nil:
			return nil, fmt.Errorf("read the cassette: line %d belongs to no turn", n)
		}
		switch {
		case l.Answer != nil:
			t.answers = append(t.answers, l.Answer)
		case l.Result != nil:
			t.results[l.Result.Call] = append(t.results[l.Result.Call], l.Result)
			t.names[l.Result.Name+" "+l.Result.Args] = l.Result
			if t.dispatched++; l.Result.Cause != "" {
				t.stopped = l.Result.Cause
			}
		case l.Plan != nil:
			t.plans = append(t.plans, l.Plan)
		case l.States != nil:
			t.states = append(t.states, l.States)
		case l.Compaction != nil:
			t.compactions = append(t.compactions, l.Compaction)
		case l.Event != nil:
			t.events = append(t.events, l.Event)
		case l.End != nil:
			t.ended = true
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read the cassette: %w", err)
	}
	if len(c.turns) == 0 {
		return nil, ErrEmpty
	}
	return c, nil
}

// Turns is how many turns the cassette has.
func (c *Cassette) Turns() int { return len(c.turns) }

// errEnough ends a replay that has come to the event that was asked for.
var errEnough = errors.New("that is as far as was asked")

// Run runs the loop on the record. see is shown every event; after until events
// it stops, 0: at the end. The error is a *Difference where the replay departs
// from the record; events that a dead program left without an end are compared
// as far as they go.
func (c *Cassette) Run(ctx context.Context, until int, see func(turn int, event json.RawMessage)) (events int, err error) {
	var history []chat.Message
	for i, t := range c.turns {
		if t.Fresh || i == 0 {
			history = t.History
		}
		k := 0
		var diff *Difference
		var stop error
		history, err = c.turn(ctx, t, history, func(e json.RawMessage) error {
			if stop != nil {
				return stop
			}
			if !t.ended && k >= len(t.events) {
				stop = errEnough
				return stop
			}
			events++
			recorded := ""
			if k < len(t.events) {
				recorded = string(t.events[k])
			}
			k++
			see(i+1, e)
			if recorded != string(e) {
				diff = &Difference{events, i + 1, recorded, string(e)}
				stop = diff
				return stop
			}
			if until > 0 && events >= until {
				stop = errEnough
			}
			return stop
		})
		switch {
		case diff != nil:
			return events, diff
		case errors.Is(stop, errEnough):
			return events, nil
		case err != nil:
			return events, err
		case k < len(t.events):
			return events, &Difference{events + 1, i + 1, string(t.events[k]), ""}
		}
	}
	return events, nil
}

// turn runs one turn and returns the history it leaves.
func (c *Cassette) turn(ctx context.Context, t *turnPlay, history []chat.Message, emit func(json.RawMessage) error) ([]chat.Message, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &player{t: t, cancel: cancel}
	d := agent.Deps{
		Tools: t.registry(p), Transcript: nowhere{}, Journal: p, Guard: c.Head.Guard, CompactAt: c.Head.CompactAt, TurnChars: c.Head.TurnChars, Dispatch: p.dispatch,
		MostAtOnce: func(name string) int { return c.Head.AtOnce[name] },
	}
	if c.Head.Compacts {
		d.Compactor = p
	}
	s := &agent.Session{
		Session: &tool.Session{ID: c.Head.Session, Platform: "cli", Services: tool.NewServices(nil)},
		Client:  p, Model: t.Model, System: strings.Repeat("x", t.System), History: history,
		Interactive: t.Ask, Approvals: &ask.Gate{Mode: ask.Manual}, MaxCalls: t.MaxCalls, Window: t.Window,
	}
	if c.Head.TreeCalls > 0 {
		s.Tree = agent.NewBudget(c.Head.TreeCalls)
	}
	s.Options.MaxTokens = t.MaxToken
	for _, o := range t.Tools {
		s.Enabled = append(s.Enabled, o.Name)
	}
	p.s = s
	var stopped error
	events := newCanonical(func(j json.RawMessage) {
		if stopped == nil {
			stopped = emit(j)
		}
	})
	for e, err := range agent.New(d).Turn(ctx, s, chat.UserText(t.Text)) {
		if err != nil {
			return nil, err
		}
		if events.add(e); stopped != nil {
			break
		}
	}
	events.flush()
	return s.History, stopped
}

// registry holds the tools that were offered. They run nothing.
func (t *turnPlay) registry(p *player) *tool.Registry {
	r := tool.New()
	for _, o := range t.Tools {
		about := strings.Repeat("x", max(1, o.Chars-len(emptySchema)))
		err := r.Add(tool.Tool{
			Name: o.Name, Toolset: "replay", About: about, Schema: json.RawMessage(emptySchema),
			Effects: func(args json.RawMessage) []tool.Effect {
				if l := t.names[o.Name+" "+string(args)]; l != nil && !l.Alone {
					return append([]tool.Effect{}, l.Effects...)
				}
				return nil
			},
			Harmless: func(args json.RawMessage) bool {
				l := t.names[o.Name+" "+string(args)]
				return l != nil && l.Harmless
			},
			Run: func(context.Context, *tool.Call) (any, error) { return nil, errors.New("nothing runs in a replay") },
		})
		if err != nil {
			p.missing = append(p.missing, err.Error())
		}
	}
	return r
}

const emptySchema = `{"type":"object","properties":{}}`

// player gives the loop what the record has. It is every part that the loop
// stands on.
type player struct {
	t       *turnPlay
	s       *agent.Session
	cancel  context.CancelCauseFunc
	missing []string

	mu                         sync.Mutex
	answer, plan, state, short int
	dispatched                 int
}

func next[T any](p *player, at *int, list []T) (v T, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if *at >= len(list) {
		return v, false
	}
	*at++
	return list[*at-1], true
}

// interrupt stops the turn where it was stopped.
func (p *player) interrupt(cause string) {
	if cause != "" {
		p.cancel(errors.New(cause))
	}
}

var errNotRecorded = errors.New("the cassette has no answer to this request")

// Stream implements provider.Client.
func (p *player) Stream(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		a, ok := next(p, &p.answer, p.t.answers)
		if !ok {
			yield(provider.Chunk{}, errNotRecorded)
			return
		}
		p.mu.Lock()
		if p.answer < len(p.t.answers) {
			if said := p.t.answers[p.answer].Steer; said != "" {
				p.s.Steer(said) // before the tools of this answer end
			}
		}
		p.mu.Unlock()
		failed := false
		for c, err := range a.Play(context.WithoutCancel(ctx)) {
			if failed = err != nil; failed {
				p.interrupt(a.Cause)
				if ctx.Err() != nil {
					err = ctx.Err()
				}
			}
			if !yield(c, err) {
				return
			}
		}
		if !failed {
			p.interrupt(a.Cause)
			if a.Cause != "" {
				yield(provider.Chunk{}, ctx.Err())
			}
		}
	}
}

func (p *player) dispatch(_ context.Context, c *tool.Call) tool.Result {
	p.mu.Lock()
	list := p.t.results[c.ID]
	if len(list) > 0 {
		p.t.results[c.ID] = list[1:]
	}
	p.mu.Unlock()
	if len(list) == 0 {
		err := fmt.Errorf("the cassette has no result of %s (%s)", c.ID, c.Name)
		return tool.Result{JSON: []byte(`{"error":"` + err.Error() + `"}`), Err: err}
	}
	l := list[0]
	out := tool.Result{JSON: []byte(l.JSON)}
	if l.Failed != "" {
		out.Err = errors.New(l.Failed)
	}
	p.mu.Lock()
	p.dispatched++
	last := p.dispatched == p.t.dispatched
	p.mu.Unlock()
	if last { // all that had begun have ended
		p.interrupt(p.t.stopped)
	}
	return out
}

// Compact implements agent.Compactor.
func (p *player) Compact(context.Context, *agent.Session, []chat.Message, agent.Reason) ([]chat.Message, error) {
	l, ok := next(p, &p.short, p.t.compactions)
	if !ok {
		return nil, errors.New("the cassette has no compaction here")
	}
	p.interrupt(l.Cause)
	if l.Error != "" {
		if l.NotNow {
			return nil, fmt.Errorf("%w%s", agent.ErrNotNow, strings.TrimPrefix(l.Error, agent.ErrNotNow.Error()))
		}
		return nil, errors.New(l.Error)
	}
	return l.Messages, nil
}

// Plan implements agent.Journal.
func (p *player) Plan(_ context.Context, _ string, begin []effect.Effect, _ ...chat.Message) ([]effect.Effect, error) {
	l, ok := next(p, &p.plan, p.t.plans)
	if !ok || len(l.Earlier) > len(begin) {
		return make([]effect.Effect, len(begin)), nil
	}
	return l.Earlier, nil
}

// Mark implements agent.Journal.
func (p *player) Mark(context.Context, string, []effect.Mark, ...chat.Message) error { return nil }

// States implements agent.Journal.
func (p *player) States(context.Context, string, []string) (map[string]effect.State, error) {
	l, ok := next(p, &p.state, p.t.states)
	if !ok {
		return nil, nil
	}
	return l.States, nil
}

// nowhere is a transcript that keeps nothing.
type nowhere struct{}

func (nowhere) Append(context.Context, string, ...chat.Message) error { return nil }
func (nowhere) Draft(string, string) error                            { return nil }
