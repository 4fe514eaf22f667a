package fakemodel

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/hermes-go/hermes/chat"
)

// The wires that the server speaks, by the names that api_mode has.
const (
	ChatCompletions = "chat_completions"
	Responses       = "codex_responses"
	Anthropic       = "anthropic_messages"
	Gemini          = "gemini"
)

// Request is what a client asked.
type Request struct {
	Method, Path string
	Query        string
	Header       http.Header
	Body         []byte
	Wire         string
	Stream       bool
}

func newRequest(r *http.Request, body []byte) Request {
	req := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body}
	switch p := r.URL.Path; {
	case strings.HasSuffix(p, "/chat/completions"):
		req.Wire = ChatCompletions
	case strings.HasSuffix(p, "/responses"):
		req.Wire = Responses
	case strings.HasSuffix(p, "/messages"):
		req.Wire = Anthropic
	case strings.HasSuffix(p, ":streamGenerateContent"):
		req.Wire, req.Stream = Gemini, true
	case strings.HasSuffix(p, ":generateContent"):
		req.Wire = Gemini
	}
	if req.Wire != Gemini {
		var b struct{ Stream bool }
		_ = json.Unmarshal(body, &b) // a body that is no JSON asks for no stream
		req.Stream = b.Stream
	}
	return req
}

// JSON returns the body as a tree; nil when it is no object.
func (r Request) JSON() map[string]any {
	var v map[string]any
	_ = json.Unmarshal(r.Body, &v) // what it is instead, the test sees in Body
	return v
}

// Model is the model that was asked.
func (r Request) Model() string {
	if r.Wire == Gemini {
		_, rest, _ := strings.Cut(r.Path, "/models/")
		name, _, _ := strings.Cut(rest, ":")
		return name
	}
	name, _ := r.JSON()["model"].(string)
	return name
}

// Messages are the messages of a Chat Completions request, system included.
func (r Request) Messages() []chat.Message {
	var b struct{ Messages []chat.Message }
	_ = json.Unmarshal(r.Body, &b)
	return b.Messages
}

// Roles are the roles of a Chat Completions request, in order.
func (r Request) Roles() []string {
	var roles []string
	for _, m := range r.Messages() {
		roles = append(roles, string(m.Role))
	}
	return roles
}

// Tools are the names of the tools offered, on any wire.
func (r Request) Tools() []string {
	var b struct {
		Tools []struct {
			Name     string
			Function struct{ Name string }
			Decls    []struct{ Name string } `json:"functionDeclarations"`
		}
	}
	_ = json.Unmarshal(r.Body, &b)
	var names []string
	for _, t := range b.Tools {
		switch {
		case t.Function.Name != "":
			names = append(names, t.Function.Name)
		case t.Name != "":
			names = append(names, t.Name)
		}
		for _, d := range t.Decls {
			names = append(names, d.Name)
		}
	}
	return names
}
