package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

// A script is a file of JSON lines, one for each call of the model:
//
//	{"text": "Hello."}
//	{"reasoning": "The file first.", "calls": [{"name": "read_file", "arguments": {"path": "a"}}]}
//	{"error": {"status": 429, "message": "slow down", "retry_after": 1}}
//	{"finish": "length", "text": "half of an"}
//	{"delay_ms": 10, "text": "late"}
//	{"usage": {"input_tokens": 900, "output_tokens": 5}, "text": "dear"}
//
// Blank lines and lines that begin with # are passed over. Arguments that are
// a JSON text are given to the loop as they are, valid or not. An error after
// a text breaks the stream off.
//
// Which line comes next: within a process every call of a session takes the
// next one. A session that the process has not seen, because it was resumed or
// branched, goes on after the lines that its messages show: after the newest
// scripted call (its id names the line) and one line for each answer since.
// Lines that leave no message, errors and mere thoughts, count as played once
// a later answer is there. Requests without a session id share one place.
type script struct {
	file  string
	lines []line

	mu     sync.Mutex
	played map[string]int // by session
}

var _ provider.Client = (*script)(nil)

type line struct {
	Text      string       `json:"text"`
	Reasoning string       `json:"reasoning"`
	Calls     []scriptCall `json:"calls"`
	Error     *scriptError `json:"error"`
	Finish    string       `json:"finish"`
	Delay     int          `json:"delay_ms"`
	Usage     *chat.Usage  `json:"usage"`
}

type scriptCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type scriptError struct {
	Status     int     `json:"status"`
	Message    string  `json:"message"`
	Code       string  `json:"code"`
	RetryAfter float64 `json:"retry_after"` // seconds
}

// ended is the answer of a script that has no line left.
const ended = "The script has ended."

func openScript(file string) (*script, error) {
	data, err := secret.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("open script: %w", err)
	}
	lines, err := readScript(file, data)
	if err != nil {
		return nil, err
	}
	return &script{file: file, lines: lines, played: map[string]int{}}, nil
}

// readScript names file and line of what it cannot read.
func readScript(file string, data []byte) ([]line, error) {
	var lines []line
	n := 0
	for raw := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		n++
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || raw[0] == '#' {
			continue
		}
		l, err := readLine(raw)
		if err != nil {
			return nil, fmt.Errorf("script %s:%d: %w", file, n, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func readLine(raw []byte) (line, error) {
	var l line
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return l, err
	}
	if dec.More() || raw[0] != '{' {
		return l, errors.New("a line is one JSON object")
	}
	for _, c := range l.Calls {
		if c.Name == "" {
			return l, errors.New("a call has no name")
		}
	}
	finishes := []string{"", chat.FinishStop, chat.FinishToolCalls, chat.FinishLength, chat.FinishFilter}
	if !slices.Contains(finishes, l.Finish) {
		return l, fmt.Errorf("finish is one of %s, not %q", strings.Join(finishes[1:], ", "), l.Finish)
	}
	if l.Delay < 0 {
		return l, errors.New("delay_ms is negative")
	}
	return l, nil
}

// Stream implements provider.Client.
func (s *script) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) { s.next(r).play(ctx, r, yield) }
}

func (s *script) next(r *provider.Request) reply {
	s.mu.Lock()
	at := s.played[r.Options.SessionID]
	if at == 0 {
		at = s.shown(r.Messages)
	}
	s.played[r.Options.SessionID] = at + 1
	s.mu.Unlock()
	if at >= len(s.lines) {
		return reply{text: ended}
	}
	return s.lines[at].reply(at)
}

// shown is how many lines a conversation shows as played.
func (s *script) shown(m []chat.Message) int {
	at := 0
	for _, x := range m {
		if x.Role != chat.Assistant {
			continue
		}
		if n, ok := lineOf(x); ok {
			at = n
			continue
		}
		text := x.Content.String()
		for at < len(s.lines) && s.lines[at].silent() {
			at++
		}
		at++
		// The pieces of an answer that was cut are one message by now.
		for at < len(s.lines) && s.lines[at-1].Finish == chat.FinishLength {
			rest, ok := strings.CutPrefix(text, s.lines[at-1].Text)
			if !ok || rest == "" || !strings.HasPrefix(rest, s.lines[at].Text) {
				break
			}
			text = rest
			at++
		}
	}
	return at
}

// silent lines leave no message in the history.
func (l line) silent() bool { return l.Error != nil || l.Text == "" && len(l.Calls) == 0 }

// lineOf reads the number of the line from the id of a scripted call.
func lineOf(m chat.Message) (int, bool) {
	for _, c := range m.ToolCalls {
		var n, i int
		if _, err := fmt.Sscanf(c.ID, "call_line%d_%d", &n, &i); err == nil && n > 0 {
			return n, true
		}
	}
	return 0, false
}

// reply makes the answer of the line with the index at.
func (l line) reply(at int) reply {
	p := reply{text: l.Text, reasoning: l.Reasoning, finish: l.Finish, usage: l.Usage, delay: time.Duration(l.Delay) * time.Millisecond}
	if p.usage != nil {
		u := *p.usage
		u.Calls = 1
		p.usage = &u
	}
	for i, c := range l.Calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_line%d_%d", at+1, i+1)
		}
		args := "{}"
		if len(c.Arguments) > 0 && string(c.Arguments) != "null" {
			args = textOf(c.Arguments)
		}
		p.calls = append(p.calls, chat.NewCall(id, c.Name, args))
	}
	if e := l.Error; e != nil {
		body := encode(map[string]any{"error": map[string]any{"message": e.Message, "code": e.Code}})
		p.err = provider.Classify(e.Status, http.Header{}, []byte(body), provider.Sent{})
		p.err.RetryAfter = time.Duration(e.RetryAfter * float64(time.Second))
	}
	return p
}
