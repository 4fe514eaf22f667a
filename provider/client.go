// Package provider is the contract with model services: what is asked, what
// streams back, how a service is described, and the wrappers that retry, fall
// back, rotate keys, limit and record. A wire format lives in providers/; this
// package talks to no network itself and knows no service by name.
package provider

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/tool"
)

// Client answers requests.
type Client interface {
	// Stream sends r and yields what arrives. The last chunk carries Final; an
	// error ends the stream and is an *Error wherever the service or the
	// network is the cause, and ctx.Err() where the caller gave up. Breaking
	// off the loop closes the connection.
	//
	// A stream that breaks after text had come, and before any tool call began,
	// is no error: Final holds the text so far with chat.FinishLength as its
	// finish reason, and Truncated beside it says what happened. Asking the
	// model to continue is then worth more than asking again. Every other break
	// is an error wrapping ErrIncomplete, and nothing of the answer counts.
	Stream(ctx context.Context, r *Request) iter.Seq2[Chunk, error]
}

// Request is one call of a model.
type Request struct {
	Model    string
	System   string
	Messages []chat.Message // never a system message
	Tools    []tool.Definition
	Options  Options

	// What is not sent:
	Purpose string // "" for a turn, else what a side call is for
	Tokens  int    // estimated size of all that is sent; 0: nobody has counted
}

// Options are the settings of one request. Zero values are not sent.
type Options struct {
	SessionID   string // prompt cache key, where a service has one
	MaxTokens   int
	Temperature *float64
	Effort      string // none, minimal, low, medium, high, xhigh; "": the service's default
	CacheTTL    string // "5m" or "1h": write cache breakpoints where the wire has them
	Extra       map[string]json.RawMessage
}

// Chunk is one step of an answer.
type Chunk struct {
	Text, Reasoning string
	CallStarted     string        // the name of a tool call that began
	Final           *chat.Message // last: the whole message with raw fields, usage and finish reason
	Notice          string        // what a person should know, e.g. a tool left out
	Retry           *Retry        // the request is about to be sent again; what arrived before it is void
	Truncated       *Error        // beside Final: the connection broke after text had come; see Stream
}

// Retry says why a request is sent again.
type Retry struct {
	Attempt int
	After   string // how long the wait is, for people
	Reason  error
	Model   string // set when the next attempt asks another model
}

// ErrBudget is wrapped when a limit of spending does not allow a request.
var ErrBudget = errors.New("a limit of spending is reached")

// ErrIncomplete is wrapped when a stream ended before it was whole.
var ErrIncomplete = errors.New("the answer broke off")

// Collect returns the final message of a stream.
func Collect(seq iter.Seq2[Chunk, error]) (chat.Message, error) {
	for c, err := range seq {
		if err != nil {
			return chat.Message{}, err
		}
		if c.Final != nil {
			return *c.Final, nil
		}
	}
	return chat.Message{}, ErrIncomplete
}
