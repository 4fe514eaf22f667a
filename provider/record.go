package provider

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// A cassette is a file of exchanges, one JSON object a line: what was asked
// and what came back, as chunks. No key is in it, since a Client sees none;
// what else must not be in it, Redact takes out.

// exchange is a line of a cassette.
type exchange struct {
	Digest  string   `json:"digest"`
	Request recorded `json:"request"`
	Tape
}

// Tape is one answer of a service, as it came. Its JSON is what a cassette has.
type Tape struct {
	Chunks []savedChunk `json:"chunks"`
}

type recorded struct {
	Model    string         `json:"model"`
	System   string         `json:"system,omitempty"`
	Messages []chat.Message `json:"messages"`
	Tools    []string       `json:"tools,omitempty"` // names and digests: definitions are the same each time
	Options  Options        `json:"options"`
}

type savedChunk struct {
	Text      string        `json:"text,omitempty"`
	Reasoning string        `json:"reasoning,omitempty"`
	Call      string        `json:"call,omitempty"`
	Notice    string        `json:"notice,omitempty"`
	Retry     *savedRetry   `json:"retry,omitempty"`
	Final     *chat.Message `json:"final,omitempty"`
	Usage     *chat.Usage   `json:"usage,omitempty"`
	Truncated *savedError   `json:"truncated,omitempty"`
	Error     *savedError   `json:"error,omitempty"`
}

type savedRetry struct {
	Attempt int         `json:"attempt"`
	After   string      `json:"after,omitempty"`
	Model   string      `json:"model,omitempty"`
	Reason  *savedError `json:"reason,omitempty"`
}

type savedError struct {
	Class      Class         `json:"class,omitempty"` // "": an error of another kind
	Status     int           `json:"status,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Code       string        `json:"code,omitempty"`
	Message    string        `json:"message,omitempty"`
	Window     int           `json:"window,omitempty"`
	Available  int           `json:"available,omitempty"`
	ToolIndex  int           `json:"tool_index,omitempty"`
	Partial    bool          `json:"partial,omitempty"`
	Attempts   int           `json:"attempts,omitempty"`
	Budget     bool          `json:"budget,omitempty"` // it was an ErrBudget
}

// budgetError is an ErrBudget with the words that it had.
type budgetError struct{ text string }

func (e budgetError) Error() string { return e.text }
func (e budgetError) Unwrap() error { return ErrBudget }

func saveError(err error) *savedError {
	if err == nil {
		return nil
	}
	e := asError(err)
	if e == nil {
		return &savedError{Message: err.Error(), ToolIndex: -1, Budget: errors.Is(err, ErrBudget)}
	}
	s := &savedError{e.Class, e.Status, e.RetryAfter, e.Code, e.Message, e.Window, e.Available, e.ToolIndex, e.Partial, e.Attempts, false}
	if s.Message == "" && e.Err != nil {
		s.Message = e.Err.Error()
	}
	return s
}

func (s *savedError) load() *Error {
	if s == nil {
		return nil
	}
	return &Error{
		Class: s.Class, Status: s.Status, RetryAfter: s.RetryAfter, Code: s.Code, Message: s.Message,
		Window: s.Window, Available: s.Available, ToolIndex: s.ToolIndex, Partial: s.Partial, Attempts: s.Attempts,
	}
}

func (s *savedError) err() error {
	if s == nil {
		return nil
	}
	if s.Budget {
		return budgetError{s.Message}
	}
	if s.Class == "" {
		return errors.New(s.Message)
	}
	return s.load()
}

func requestOf(r *Request) recorded {
	out := recorded{Model: r.Model, System: r.System, Messages: r.Messages, Options: r.Options}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, t.Function.Name+" "+digest([]byte(t.Function.Description), t.Function.Parameters)[:12])
	}
	return out
}

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// line encodes a value with every text in it redacted.
func line(v any, redact func(string) string) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	if redact == nil {
		return buf.Bytes(), nil
	}
	n, err := parseNode(buf.Bytes())
	if err != nil {
		return nil, err
	}
	n.eachText(redact)
	return append(n.bytes(), '\n'), nil
}

func (n *node) eachText(f func(string) string) {
	for _, x := range n.fields {
		x.value.eachText(f)
	}
	for _, x := range n.items {
		x.eachText(f)
	}
	if n.isText() {
		n.raw = leaf(f(n.text())).raw
	}
}

// identity is the digest of a redacted request. The session's id changes with
// each run and is no part of it.
func identity(r *Request, redact func(string) string) (string, error) {
	q := requestOf(r)
	q.Options.SessionID = ""
	b, err := line(q, redact)
	if err != nil {
		return "", err
	}
	return digest(b), nil
}

// Record writes each exchange to w, one line when it has ended. redact takes
// secrets out of every text and may be nil. Pieces of text are joined before,
// so that a secret in two pieces is seen. A failure to write ends nothing:
// fail is told, and may be nil too.
func Record(c Client, w io.Writer, redact func(string) string, fail func(error)) Client {
	return &recorder{Client: c, w: w, redact: redact, fail: fail}
}

type recorder struct {
	Client
	redact func(string) string
	fail   func(error)

	mu sync.Mutex
	w  io.Writer
}

// Stream implements Client.
func (r *recorder) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		x := exchange{Request: requestOf(req)}
		defer func() {
			if err := r.write(&x, req); err != nil && r.fail != nil {
				r.fail(fmt.Errorf("record an exchange: %w", err))
			}
		}()
		for c, err := range r.Client.Stream(ctx, req) {
			x.Add(c, err)
			if !yield(c, err) {
				return
			}
		}
	}
}

// Add takes up what a stream yields. Pieces of text in a row become one, so that
// a secret in two of them is seen.
func (x *Tape) Add(c Chunk, err error) {
	s := savedChunk{
		Text: c.Text, Reasoning: c.Reasoning, Call: c.CallStarted, Notice: c.Notice, Final: c.Final, Error: saveError(err),
	}
	if c.Truncated != nil {
		s.Truncated = saveError(c.Truncated)
	}
	if c.Final != nil {
		s.Usage = c.Final.Usage
	}
	if c.Retry != nil {
		s.Retry = &savedRetry{c.Retry.Attempt, c.Retry.After, c.Retry.Model, saveError(c.Retry.Reason)}
	}
	if n := len(x.Chunks); n > 0 {
		last := &x.Chunks[n-1]
		switch {
		case s == (savedChunk{Text: s.Text}) && *last == (savedChunk{Text: last.Text}):
			last.Text += s.Text
			return
		case s == (savedChunk{Reasoning: s.Reasoning}) && *last == (savedChunk{Reasoning: last.Reasoning}):
			last.Reasoning += s.Reasoning
			return
		}
	}
	x.Chunks = append(x.Chunks, s)
}

func (r *recorder) write(x *exchange, req *Request) (err error) {
	if x.Digest, err = identity(req, r.redact); err != nil {
		return err
	}
	b, err := line(x, r.redact)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.w.Write(b)
	return err
}

// ErrNotRecorded is wrapped by a replay that is asked what was not recorded.
var ErrNotRecorded = errors.New("the cassette has no answer to this request")

// Replay answers from a cassette: each exchange once, to the request that it
// was recorded for. redact must be the one of the recording. The error of a
// request that nobody recorded says where it departs from the next one that
// was.
func Replay(cassette io.Reader, redact func(string) string) (Client, error) {
	p := &replaying{redact: redact}
	in := bufio.NewReader(cassette)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			var x exchange
			if err := json.Unmarshal(text, &x); err != nil {
				return nil, fmt.Errorf("read the cassette: line %d: %w", n, err)
			}
			p.left = append(p.left, x)
		}
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the cassette: %w", err)
		}
	}
}

type replaying struct {
	redact func(string) string

	mu   sync.Mutex
	left []exchange
}

// Stream implements Client.
func (p *replaying) Stream(ctx context.Context, r *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		x, err := p.find(r)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		x.Play(ctx)(yield)
	}
}

// Play is the stream that was taken up.
func (x *Tape) Play(ctx context.Context) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for i := range x.Chunks {
			if ctx.Err() != nil {
				yield(Chunk{}, ctx.Err())
				return
			}
			c, err := x.Chunks[i].load()
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (s *savedChunk) load() (Chunk, error) {
	c := Chunk{
		Text: s.Text, Reasoning: s.Reasoning, CallStarted: s.Call, Notice: s.Notice, Final: s.Final, Truncated: s.Truncated.load(),
	}
	if s.Final != nil {
		s.Final.Usage = s.Usage
	}
	if s.Retry != nil {
		c.Retry = &Retry{Attempt: s.Retry.Attempt, After: s.Retry.After, Model: s.Retry.Model, Reason: s.Retry.Reason.err()}
	}
	return c, s.Error.err()
}

func (p *replaying) find(r *Request) (*exchange, error) {
	id, err := identity(r, p.redact)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.left {
		if p.left[i].Digest == id {
			x := p.left[i]
			p.left = append(p.left[:i:i], p.left[i+1:]...)
			return &x, nil
		}
	}
	if len(p.left) == 0 {
		return nil, fmt.Errorf("%w: it is at its end", ErrNotRecorded)
	}
	return nil, fmt.Errorf("%w: %s", ErrNotRecorded, p.departure(r))
}

// departure names the first difference to the next recorded request.
func (p *replaying) departure(r *Request) string {
	b, err := line(requestOf(r), p.redact)
	var got recorded
	if err != nil || json.Unmarshal(b, &got) != nil {
		return "it cannot be read"
	}
	want := p.left[0].Request
	same := func(a, b any) bool {
		x, err1 := json.Marshal(a)
		y, err2 := json.Marshal(b)
		return err1 == nil && err2 == nil && bytes.Equal(x, y)
	}
	switch {
	case got.Model != want.Model:
		return fmt.Sprintf("it asks model %s, recorded is %s", got.Model, want.Model)
	case got.System != want.System:
		return "its system text differs"
	case !same(got.Tools, want.Tools):
		return "its tools differ"
	}
	for i := range min(len(got.Messages), len(want.Messages)) {
		if !same(got.Messages[i], want.Messages[i]) {
			return fmt.Sprintf("its message %d (%s) differs", i, got.Messages[i].Role)
		}
	}
	if len(got.Messages) != len(want.Messages) {
		return fmt.Sprintf("it has %d messages, recorded are %d", len(got.Messages), len(want.Messages))
	}
	return "its options differ"
}
