package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

type object = map[string]any

// text encodes without HTML escaping, so that tests see what they wrote.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only plain values are encoded here
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func sse(event string) string {
	if name, data, ok := strings.Cut(event, "\n"); ok {
		return "event: " + name + "\ndata: " + data + "\n\n"
	}
	return "data: " + event + "\n\n"
}

func writeError(w http.ResponseWriter, wire string, r Reply) {
	body := r.Body
	if body == "" {
		message := http.StatusText(r.Status)
		switch wire {
		case Anthropic:
			body = text(object{"type": "error", "error": object{"type": "api_error", "message": message}})
		case Gemini:
			body = text(object{"error": object{"code": r.Status, "message": message, "status": "UNKNOWN"}})
		default:
			body = text(object{"error": object{"message": message, "type": "server_error"}})
		}
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(r.Status)
	fmt.Fprint(w, body)
}

func wholeOf(req Request, r Reply) string {
	switch req.Wire {
	case Responses:
		return responsesWhole(r)
	case Anthropic:
		return anthropicWhole(r)
	case Gemini:
		return geminiWhole(r)
	default:
		return chatWhole(r)
	}
}

func eventsOf(req Request, r Reply) []string {
	switch req.Wire {
	case Responses:
		return responsesEvents(r)
	case Anthropic:
		return anthropicEvents(r)
	case Gemini:
		return geminiEvents(r)
	default:
		return chatEvents(r)
	}
}

// pieces cuts s as a model would stream it.
func pieces(s string, chunks []string) []string {
	if chunks != nil {
		return chunks
	}
	const size = 8
	var out []string
	for len(s) > size {
		n := size
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

func (r Reply) usage() Usage {
	if r.Usage != nil {
		return *r.Usage
	}
	return Usage{Input: 10, Output: 5}
}

func (r Reply) finish() string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func (r Reply) fullText() string {
	if r.Chunks != nil {
		return strings.Join(r.Chunks, "")
	}
	return r.Text
}

// argObject is a call's arguments as a value, for wires that have no text.
func argObject(args string) any {
	if !json.Valid([]byte(args)) || args == "" {
		return object{}
	}
	return json.RawMessage(args)
}

// Whole is the body of an unstreamed answer in one of the formats.
func Whole(wire string, r Reply) string { return wholeOf(Request{Wire: wire}, r) }
