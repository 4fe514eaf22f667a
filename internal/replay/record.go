package replay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// Recorder writes a cassette while a conversation goes on.
type Recorder struct {
	out  *writer
	last []chat.Message // what the turn before left
	any  bool           // there was one
}

// NewRecorder begins a cassette. redact takes secrets out of a JSON text.
func NewRecorder(w io.Writer, redact func([]byte) []byte, h Head) *Recorder {
	r := &Recorder{out: &writer{w: w, redact: redact}}
	h.Version = Version
	r.out.write(line{Head: &h})
	return r
}

// Err is what kept the cassette from being written.
func (r *Recorder) Err() error {
	r.out.mu.Lock()
	defer r.out.mu.Unlock()
	return r.out.err
}

// Turn is agent.Turn with a record of it. d are the parts that the session's
// agent stands on.
func (r *Recorder) Turn(ctx context.Context, d agent.Deps, s *agent.Session, text string) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		r.begin(ctx, d, s, text)
		client := s.Client
		s.Client = &tap{Client: client, r: r, s: s, from: len(s.History)}
		defer func() { s.Client = client }()
		if d.Compactor != nil {
			d.Compactor = &compactor{d.Compactor, r}
		}
		if d.Journal != nil {
			d.Journal = &journal{d.Journal, r}
		}
		tools := d.Tools
		dispatch := d.Dispatch
		if dispatch == nil {
			dispatch = tools.Dispatch
		}
		d.Dispatch = func(ctx context.Context, c *tool.Call) tool.Result {
			out := dispatch(ctx, c)
			r.out.write(line{Result: resultOf(ctx, tools, c, out)})
			return out
		}
		n := 0
		events := newCanonical(func(j json.RawMessage) { n++; r.out.write(line{Event: j}) })
		defer func() {
			events.flush()
			r.out.write(line{End: &endLine{n}})
			r.last, r.any = slices.Clone(s.History), true
		}()
		for e, err := range agent.New(d).Turn(ctx, s, chat.UserText(text)) {
			if err == nil {
				events.add(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (r *Recorder) begin(ctx context.Context, d agent.Deps, s *agent.Session, text string) {
	t := &turnLine{
		Text: text, Model: s.Model, Window: s.Window, MaxCalls: s.MaxCalls, MaxToken: s.Options.MaxTokens, System: len(s.System), Ask: s.Interactive,
	}
	services := tool.NewServices(s.Services)
	tool.ProvideAs[agent.Loop](services, idle{})
	probe := *s.Session
	probe.Services = services
	for _, def := range d.Tools.Definitions(ctx, &probe, s.Enabled) {
		t.Tools = append(t.Tools, offered{def.Function.Name, len(def.Function.Description) + len(def.Function.Parameters)})
	}
	if !r.any || !same(r.last, s.History) {
		t.History, t.Fresh = s.History, true
	}
	r.out.write(line{Turn: t})
}

type idle struct{}

func (idle) LastResult(string) (string, bool) { return "", false }

// same compares by what is sent.
func same(a, b []chat.Message) bool {
	return slices.EqualFunc(a, b, func(x, y chat.Message) bool {
		return x.Role == y.Role && x.ToolCallID == y.ToolCallID && x.Content.String() == y.Content.String() && len(x.ToolCalls) == len(y.ToolCalls)
	})
}

// cause is why a context ended, "" while it has not.
func cause(ctx context.Context) string {
	if ctx.Err() == nil {
		return ""
	}
	return context.Cause(ctx).Error()
}

// tap records the answers of a turn; side calls pass.
type tap struct {
	provider.Client
	r    *Recorder
	s    *agent.Session
	from int // messages of the history that were looked at
}

// Stream implements provider.Client.
func (t *tap) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if req.Purpose != "" || req.Options.SessionID != t.s.ID { // a side call, or a child
		return t.Client.Stream(ctx, req)
	}
	return func(yield func(provider.Chunk, error) bool) {
		a := &answerLine{Steer: t.steer()}
		defer func() {
			a.Cause = cause(ctx)
			t.r.out.write(line{Answer: a})
		}()
		for c, err := range t.Client.Stream(ctx, req) {
			a.Add(c, err)
			if !yield(c, err) {
				return
			}
		}
	}
}

// steer is what the person said since the last answer, as it was said.
func (t *tap) steer() string {
	var said []string
	t.from = min(t.from, len(t.s.History)) // it may have become shorter
	for _, m := range t.s.History[t.from:] {
		if agent.Steer(m) {
			said = append(said, strings.TrimPrefix(m.Content.String(), agent.SteerPrefix))
		}
	}
	t.from = len(t.s.History)
	return strings.Join(said, "\n")
}

func resultOf(ctx context.Context, tools *tool.Registry, c *tool.Call, out tool.Result) *resultLine {
	l := &resultLine{Call: c.ID, Name: c.Name, Args: string(c.Args), JSON: string(out.JSON), Cause: cause(ctx)}
	if out.Err != nil {
		if l.Failed = out.Err.Error(); l.Failed == "" {
			l.Failed = "failed"
		}
	}
	l.Effects, l.Alone, l.Harmless = EffectsOf(tools, c)
	return l
}

// EffectsOf is what a call touches, as its tool declares it.
func EffectsOf(tools *tool.Registry, c *tool.Call) (e []tool.Effect, alone, harmless bool) {
	def, ok := tools.Lookup(c.Name)
	if !ok {
		return nil, true, false
	}
	defer func() {
		if recover() != nil { // arguments it did not expect
			e, alone = nil, true
		}
	}()
	harmless = def.Harmless != nil && def.Harmless(c.Args)
	if def.Effects == nil {
		return nil, true, harmless
	}
	e = def.Effects(c.Args)
	return e, e == nil, harmless
}

type compactor struct {
	agent.Compactor
	r *Recorder
}

// Compact implements agent.Compactor.
func (c *compactor) Compact(ctx context.Context, s *agent.Session, m []chat.Message, why agent.Reason) ([]chat.Message, error) {
	out, err := c.Compactor.Compact(ctx, s, m, why)
	l := &compactionLine{Messages: out, Cause: cause(ctx)}
	if err != nil {
		l.Error, l.NotNow = err.Error(), errors.Is(err, agent.ErrNotNow)
	}
	c.r.out.write(line{Compaction: l})
	return out, err
}

type journal struct {
	agent.Journal
	r *Recorder
}

// Plan implements agent.Journal.
func (j *journal) Plan(ctx context.Context, id string, begin []effect.Effect, m ...chat.Message) ([]effect.Effect, error) {
	earlier, err := j.Journal.Plan(ctx, id, begin, m...)
	j.r.out.write(line{Plan: &planLine{earlier}})
	return earlier, err
}

// States implements agent.Journal.
func (j *journal) States(ctx context.Context, id string, calls []string) (map[string]effect.State, error) {
	s, err := j.Journal.States(ctx, id, calls)
	j.r.out.write(line{States: &statesLine{s}})
	return s, err
}
