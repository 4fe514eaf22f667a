package executecode

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	"github.com/hermes-go/hermes/tool"
)

// request is a line that a script writes into its pipe.
type request struct {
	Reply string          `json:"reply"` // pipe for the answer
	Call  string          `json:"call"`
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args"`
	File  string          `json:"file"` // holds the request instead
}

// answer is a line in the pipe that the request named.
type answer struct {
	Call   string          `json:"call"`
	Result json.RawMessage `json:"result"`
}

// The names that a script may give: anything else is not answered.
var (
	replyName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^r-[0-9]+-[0-9]+$`) })
	fileName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^q-r-[0-9]+-[0-9]+-[0-9]+$`) })
)

// line is how requests and answers travel.
type line interface {
	io.Reader                                                  // requests
	take(ctx context.Context, file string) ([]byte, error)     // reads a request's file and removes it
	reply(ctx context.Context, pipe string, text []byte) error // one line
}

// server answers a script's calls.
type server struct {
	call    *tool.Call
	tools   tool.Dispatcher
	allowed []string
	most    int

	mu    sync.Mutex
	calls int
}

// serve answers until there are no more requests. Calls run at once, as the
// script makes them.
func (s *server) serve(ctx context.Context, l line) {
	var wait sync.WaitGroup
	defer wait.Wait()
	for in := bufio.NewReaderSize(l, 64<<10); ; {
		b, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q request
		if json.Unmarshal(b, &q) != nil || !replyName().MatchString(q.Reply) {
			continue // whoever wrote that cannot be answered
		}
		wait.Go(func() {
			result := s.answer(ctx, l, q)
			text, err := json.Marshal(answer{q.Call, result})
			if err != nil {
				return // both parts are valid
			}
			_ = l.reply(ctx, q.Reply, append(text, '\n')) // a script that has gone needs none
		})
	}
}

func failure(format string, args ...any) json.RawMessage {
	b, _ := json.Marshal(map[string]string{"error": fmt.Sprintf(format, args...)}) // texts always encode
	return b
}

func (s *server) answer(ctx context.Context, l line, q request) json.RawMessage {
	if q.File != "" {
		if !fileName().MatchString(q.File) {
			return failure("the call names no file of its own")
		}
		b, err := l.take(ctx, q.File)
		if err != nil {
			return failure("the call did not arrive: %v", err)
		}
		q.Args = nil
		if err := json.Unmarshal(b, &q); err != nil {
			return failure("the call did not arrive whole: %v", err)
		}
	}
	if !slices.Contains(s.allowed, q.Tool) {
		return failure("%s cannot be called from a script; there are: %v", q.Tool, s.allowed)
	}
	s.mu.Lock()
	s.calls++
	n := s.calls
	s.mu.Unlock()
	if n > s.most {
		return failure("tool call limit reached (%d): print what is known and end the script", s.most)
	}
	args, err := s.reduce(q)
	if err != nil {
		return failure("%v", err)
	}
	r := s.tools.Dispatch(ctx, s.call, q.Tool, args)
	var one bytes.Buffer
	if err := json.Compact(&one, r.JSON); err != nil {
		return failure("%s: its result is no JSON: %v", q.Tool, err)
	}
	return one.Bytes()
}

// reduce takes out what scripts may not ask of the terminal: what outlives the
// script would have nobody who looks after it.
func (s *server) reduce(q request) (json.RawMessage, error) {
	if q.Tool != "terminal" {
		return q.Args, nil
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(q.Args, &args); err != nil {
		return nil, fmt.Errorf("arguments of terminal: %w", err)
	}
	for _, name := range []string{"background", "pty", "notify_on_complete", "watch_patterns"} {
		delete(args, name)
	}
	return json.Marshal(args)
}

// made is how many calls ran.
func (s *server) made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(s.calls, s.most)
}
