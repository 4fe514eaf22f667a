package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// roundsPlayed is how many tool rounds the scripts with rounds have.
const roundsPlayed = 40

// server speaks Chat Completions without thinking: the first element of the
// path names a script, and the number of answers in a request says where in it
// the conversation stands. It notes when each answer left and the next request
// came.
type server struct {
	url  string
	http *http.Server

	mu       sync.Mutex
	left     time.Time       // when the last answer left
	gaps     []time.Duration // between an answer and the next request
	requests int
	largest  int
}

func serve() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &server{url: "http://" + l.Addr().String()}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.http.Serve(l) }() // ends with close
	return s, nil
}

func (s *server) close() { _ = s.http.Close() }

func (s *server) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.gaps, s.requests, s.largest = time.Time{}, nil, 0, 0
}

func (s *server) sizes() (largest, requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.largest, s.requests
}

// taken returns the gaps since the last reset, the first two left out: they
// hold what is done once.
func (s *server) taken() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Duration(nil), s.gaps[min(2, len(s.gaps)):]...)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodPost {
		http.NotFound(w, r) // lists of models and the like
		return
	}
	s.mu.Lock()
	s.requests++
	s.largest = max(s.largest, len(body))
	if !s.left.IsZero() {
		s.gaps = append(s.gaps, came.Sub(s.left))
	}
	s.mu.Unlock()
	script, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range reply(script, bytes.Count(body, []byte(`"role":"assistant"`))) {
		if _, err := fmt.Fprintf(w, "data: %s\n\n", chunk); err != nil {
			return
		}
	}
	s.mu.Lock()
	s.left = time.Now()
	s.mu.Unlock()
}

// reply is the stream of one answer.
func reply(script string, answers int) []string {
	switch script {
	case "read":
		if answers < roundsPlayed {
			return calls(fmt.Sprintf("call_%d", answers), "read_file", fmt.Sprintf(`{\"path\":\"note.txt\",\"offset\":%d,\"limit\":5}`, answers+1))
		}
	case "terminal":
		if answers < roundsPlayed {
			return calls(fmt.Sprintf("call_%d", answers), "terminal", `{\"command\":\"true\"}`)
		}
	}
	return text("Hello.")
}

const head = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":`

func text(s string) []string {
	return []string{
		head + `{"role":"assistant","content":"` + s + `"},"finish_reason":null}]}`,
		head + `{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`,
		"[DONE]",
	}
}

// calls is an answer with one call of a tool, its arguments escaped already.
func calls(id, name, arguments string) []string {
	return []string{
		head + `{"role":"assistant","content":null,"tool_calls":[` + call(0, id, name, arguments) + `]},"finish_reason":null}]}`,
		head + `{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`,
		"[DONE]",
	}
}

func call(index int, id, name, arguments string) string {
	return fmt.Sprintf(`{"index":%d,"id":"%s","type":"function","function":{"name":"%s","arguments":"%s"}}`, index, id, name, arguments)
}
