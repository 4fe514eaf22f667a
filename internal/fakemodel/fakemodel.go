// Package fakemodel is an HTTP server for tests that answers like a model
// service: Chat Completions, Responses, Anthropic Messages and Gemini, streamed
// or whole, from one script of replies, and it keeps what it was asked. It is
// no model (the provider "offline" is) and no shipped code imports it.
package fakemodel

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Reply is one scripted answer. The zero value is an empty answer.
type Reply struct {
	Text      string
	Chunks    []string // Text in pieces of your choice; nil: pieces of a few bytes
	Reasoning string
	Signature string // of the reasoning: Anthropic's signature, Gemini's thought signature, Responses' encrypted content
	Calls     []Call
	NoIDs     bool   // the calls have none
	Finish    string // in the chat format's words; "": what fits
	Usage     *Usage // nil: 10 in, 5 out

	Status int               // 200 when 0; any other one is an error answer
	Header map[string]string // of the answer
	Body   string            // of an error answer; "": made from Status

	Events []string // the stream's events instead of made ones: "data" or "event\ndata"
	Whole  string   // the whole body of an unstreamed answer instead of a made one; sent as JSON even to who asked for a stream
	Cut    int      // >0: the connection breaks after so many events

	Delay time.Duration   // before the first byte
	Gate  <-chan struct{} // what comes after the first events waits until it is closed
	Hang  bool            // what comes after the first events never comes
	After int             // how many events are the first, 1 when 0

	Func func(Request) Reply // decides when asked; everything else is ignored
}

// Call is a tool call of a reply.
type Call struct {
	ID, Name, Args string // ID "": call_N, N counting the server's calls
}

// Usage is what a reply claims to have cost; Input includes what was cached.
type Usage struct {
	Input, Output, CacheRead, CacheWrite, Reasoning int
}

// Text is a plain answer.
func Text(s string) Reply { return Reply{Text: s} }

// UseTool is an answer with one tool call.
func UseTool(name, args string) Reply { return Reply{Calls: []Call{{Name: name, Args: args}}} }

// UseTools is an answer with several tool calls.
func UseTools(calls ...Call) Reply { return Reply{Calls: calls} }

// Fail is an error answer; header is pairs of names and values.
func Fail(status int, body string, header ...string) Reply {
	r := Reply{Status: status, Body: body, Header: map[string]string{}}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header[header[i]] = header[i+1]
	}
	return r
}

// CutAfter breaks the connection after so many events of r; 0 means before
// the first one.
func CutAfter(events int, r Reply) Reply {
	r.Cut = events
	if events == 0 {
		r.Cut = -1
	}
	return r
}

// Server plays a script.
type Server struct {
	URL string // without a path; every wire's paths work below it, with or without /v1

	http  *httptest.Server
	mu    sync.Mutex
	left  []Reply
	all   []Request
	calls int
	loop  bool
	extra func(w http.ResponseWriter, r *http.Request) bool
	done  chan struct{}
}

// New starts a server that ends with the test.
func New(t testing.TB, replies ...Reply) *Server {
	t.Helper()
	s := &Server{left: slices.Clone(replies), done: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	t.Cleanup(func() {
		close(s.done)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// V1 is the base URL of the OpenAI-like wires.
func (s *Server) V1() string { return s.URL + "/v1" }

// Add appends to the script.
func (s *Server) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, replies...)
}

// Repeat makes the last reply of the script answer every further request.
func (s *Server) Repeat() *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loop = true
	return s
}

// Handle is asked before the script; it answers and returns true, or leaves
// the request alone.
func (s *Server) Handle(h func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra = h
}

// Requests returns what was asked of the model so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// Left is how many replies have not been played.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.left)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	extra := s.extra
	s.mu.Unlock()
	if extra != nil && extra(w, r) {
		return
	}
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"fake-model","object":"model","context_length":128000}],"models":[{"name":"models/fake-model","inputTokenLimit":128000,"outputTokenLimit":8192}]}`)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	req := newRequest(r, body)
	reply, n, ok := s.next(req)
	if req.Wire == "" {
		http.Error(w, `{"error":{"message":"fakemodel: no such path"}}`, http.StatusNotFound)
		return
	}
	if !ok {
		writeError(w, req.Wire, Fail(http.StatusInternalServerError, fmt.Sprintf(`{"error":{"message":"fakemodel: the script has no reply for request %d"}}`, n)))
		return
	}
	if reply.Func != nil {
		reply = reply.Func(req)
	}
	s.play(w, r, req, reply)
}

func (s *Server) next(req Request) (Reply, int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, req)
	if len(s.left) == 0 {
		return Reply{}, len(s.all), false
	}
	r := s.left[0]
	if !s.loop || len(s.left) > 1 {
		s.left = s.left[1:]
	}
	r.Header = maps.Clone(r.Header)
	return r, len(s.all), true
}

func (s *Server) play(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	if reply.Delay > 0 {
		wait := time.NewTimer(reply.Delay)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
	for k, v := range reply.Header {
		w.Header().Set(k, v)
	}
	if reply.Status != 0 && reply.Status != http.StatusOK {
		writeError(w, req.Wire, reply)
		return
	}
	reply.Calls = s.named(reply.Calls, reply.NoIDs)
	if reply.Whole != "" || !req.Stream {
		s.whole(w, req, reply)
		return
	}
	s.stream(w, r, req, reply)
}

// named gives ids to calls that have none, unique in the server.
func (s *Server) named(calls []Call, noIDs bool) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls = slices.Clone(calls)
	for i := range calls {
		s.calls++
		if calls[i].ID == "" && !noIDs {
			calls[i].ID = fmt.Sprintf("call_%d", s.calls)
		}
	}
	return calls
}

func (s *Server) whole(w http.ResponseWriter, req Request, reply Reply) {
	body := reply.Whole
	if body == "" {
		body = wholeOf(req, reply)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	if reply.Cut != 0 {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		fmt.Fprint(w, body[:len(body)/2])
		abort()
	}
	fmt.Fprint(w, body)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	events := reply.Events
	if events == nil {
		events = eventsOf(req, reply)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	w.WriteHeader(http.StatusOK)
	flush := w.(http.Flusher).Flush
	if reply.Cut < 0 {
		flush()
		abort()
	}
	// A script without pauses is written in one go, so that benchmarks measure
	// the client and not the server's flushes.
	paced := reply.Cut > 0 || reply.Hang || reply.Gate != nil
	for i, e := range events {
		if i == max(reply.After, 1) && (reply.Hang || reply.Gate != nil) {
			select {
			case <-reply.Gate:
				if reply.Hang {
					<-r.Context().Done()
					return
				}
			case <-r.Context().Done():
				return
			case <-s.done:
				return
			}
		}
		fmt.Fprint(w, sse(e))
		if paced {
			flush()
		}
		if reply.Cut > 0 && i+1 >= reply.Cut {
			abort()
		}
	}
}

// abort breaks the connection as a crash would.
func abort() { panic(http.ErrAbortHandler) }
