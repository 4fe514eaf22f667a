// Package replay records what a conversation's loop is given (messages, answers
// of the model, results of tools, compactions) and the events that it makes of
// that, and runs the loop again on a record: without network, tools or store,
// it has to make the same events to the byte. A cassette holds no secret that
// the recording program knew. What is not recorded is how a front shows events,
// and progress and questions of tools, which depend on time and people.
package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/tool"
)

// Version is that of the format. A program reads its own and older ones.
const Version = 1

// line is one of a cassette; one field is set.
type line struct {
	Head       *Head           `json:"cassette,omitempty"`
	Turn       *turnLine       `json:"turn,omitempty"`
	Plan       *planLine       `json:"plan,omitempty"`
	States     *statesLine     `json:"states,omitempty"`
	Answer     *answerLine     `json:"answer,omitempty"`
	Result     *resultLine     `json:"result,omitempty"`
	Compaction *compactionLine `json:"compaction,omitempty"`
	Event      json.RawMessage `json:"event,omitempty"`
	End        *endLine        `json:"end,omitempty"`
}

// Head says what a cassette is of.
type Head struct {
	Version int    `json:"version"`
	Program string `json:"program"`
	Session string `json:"session"`
	// Made is "live", or "store" for a cassette that was made of a stored
	// conversation: then its events are those of the program that made it.
	Made string `json:"made"`

	Guard     agent.GuardrailRules `json:"guard"`
	CompactAt float64              `json:"compact_at"`
	Compacts  bool                 `json:"compacts"`
	TreeCalls int                  `json:"tree_calls"`
	AtOnce    map[string]int       `json:"at_once,omitempty"`
	TurnChars int                  `json:"turn_chars,omitempty"`
}

// turnLine begins a turn. History is there when it is not what the turn before
// left behind.
type turnLine struct {
	Text     string         `json:"text"`
	History  []chat.Message `json:"history,omitempty"`
	Fresh    bool           `json:"fresh"` // History counts, even when it is empty
	Model    string         `json:"model"`
	Window   int            `json:"window"`
	MaxCalls int            `json:"max_calls"`
	MaxToken int            `json:"max_tokens,omitempty"`
	System   int            `json:"system_chars"`
	Tools    []offered      `json:"tools"`
	Ask      bool           `json:"interactive"`
}

// offered is a tool as the loop sees it.
type offered struct {
	Name  string `json:"name"`
	Chars int    `json:"chars"` // of its definition, which the size of a request has
}

type planLine struct {
	Earlier []effect.Effect `json:"earlier"`
}

type statesLine struct {
	States map[string]effect.State `json:"states"`
}

// answerLine is one answer of the model. Steer was said before it was asked for.
type answerLine struct {
	provider.Tape
	Steer string `json:"steer,omitempty"`
	Cause string `json:"interrupted,omitempty"` // the turn was stopped while it arrived
}

type resultLine struct {
	Call     string        `json:"call"`
	Name     string        `json:"name"`
	Args     string        `json:"args"`
	JSON     string        `json:"json"`
	Failed   string        `json:"failed,omitempty"`
	Effects  []tool.Effect `json:"effects"`
	Alone    bool          `json:"alone,omitempty"`
	Harmless bool          `json:"harmless,omitempty"`
	Cause    string        `json:"interrupted,omitempty"`
}

type compactionLine struct {
	Messages []chat.Message `json:"messages,omitempty"`
	Error    string         `json:"error,omitempty"`
	NotNow   bool           `json:"not_now,omitempty"`
	Cause    string         `json:"interrupted,omitempty"`
}

type endLine struct {
	Events int `json:"events"`
}

// writer writes lines with every text in them redacted.
type writer struct {
	mu     sync.Mutex
	w      io.Writer
	redact func([]byte) []byte
	err    error
}

func (w *writer) write(l line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if w.err = e.Encode(l); w.err != nil {
		return
	}
	text := bytes.TrimSpace(b.Bytes())
	if w.redact != nil {
		text = w.redact(text)
	}
	_, w.err = w.w.Write(append(text, '\n'))
}

// canonical puts events into the order and the shape that do not depend on
// time: text in one piece, a call's beginning right before its end, without
// progress, questions and durations.
type canonical struct {
	emit   func(json.RawMessage)
	text   agent.EventJSON // waits for more of the same kind
	starts map[string]agent.EventJSON
}

func newCanonical(emit func(json.RawMessage)) *canonical {
	return &canonical{emit: emit, starts: map[string]agent.EventJSON{}}
}

func (c *canonical) add(e agent.Event) {
	switch e := e.(type) {
	case agent.ToolProgress, agent.Asked:
		return
	case agent.ToolStart:
		c.starts[e.ID] = agent.ToJSON(e, "")
		return
	}
	j := agent.ToJSON(e, "")
	j.Seconds = 0
	if j.Type == "text" || j.Type == "reasoning" {
		if c.text.Type == j.Type {
			joined := *c.text.Text + *j.Text
			c.text.Text = &joined
			return
		}
		c.flush()
		c.text = j
		return
	}
	c.flush()
	if j.Type == "tool_end" {
		if s, ok := c.starts[j.ID]; ok {
			delete(c.starts, j.ID)
			c.print(s)
		}
	}
	c.print(j)
}

func (c *canonical) flush() {
	if c.text.Type != "" {
		c.print(c.text)
		c.text = agent.EventJSON{}
	}
}

func (c *canonical) print(j agent.EventJSON) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(j); err != nil {
		b.Reset()
		fmt.Fprintf(&b, `{"type":"unprintable","error":%q}`, err)
	}
	c.emit(bytes.TrimSpace(b.Bytes()))
}
