// Package wire is what the model wires share: one way to send a request and
// to read a stream of events, the assembly of tool calls, the split between
// text and reasoning, and the small changes that make a service take a request
// it has refused. It knows no service and no format: those are in providers/.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/provider"
)

// Format is one wire's way to write a request and to read its answer.
type Format interface {
	// Dialect is the schema dialect of the tools that Build is given.
	Dialect(model string) provider.Dialect
	// Build writes a request. It changes nothing of r.
	Build(r *provider.Request, tools []Tool, a Adapted) (Outgoing, error)
	// Answer starts the reading of one answer into d.
	Answer(r *provider.Request, d *Draft) Answer
}

// Outgoing is a request to be posted. Path is joined to the endpoint's base.
type Outgoing struct {
	URL    string
	Header http.Header
	Body   Payload
}

// Answer reads one answer.
type Answer interface {
	// Event takes one event of a stream; done says that the answer is whole.
	Event(ev Event) (done bool, err error)
	// Whole takes an answer that was not streamed.
	Whole(body []byte) error
	// End is called once when the stream has ended and before the message is
	// made; whole says whether the answer came to its end.
	End() (whole bool, err error)
}

// Client speaks one format to one endpoint. It is safe for any number of
// requests at a time.
type Client struct {
	Endpoint provider.Endpoint
	Format   Format

	http *http.Client

	mu    sync.Mutex
	learn map[string]Adapted // by model: what it was seen to refuse
	tools toolCache
}

var _ provider.Client = (*Client)(nil)

// New makes a client.
func New(e provider.Endpoint, f Format) *Client {
	return &Client{Endpoint: e, Format: f, http: httpClient(e.HTTP), learn: map[string]Adapted{}}
}

var (
	errStalled = errors.New("no sign of life")
	errTooLong = errors.New("the time limit for an answer has passed")
)

// Stream implements provider.Client.
func (c *Client) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		var once Adapted // for this request only
		for attempt := 1; ; attempt++ {
			x := exchange{Client: c, r: r, adapted: c.adapted(r.Model).with(once)}
			x.draft = newDraft(r, yield)
			err := x.run(ctx)
			if x.draft.stopped {
				return
			}
			if err == nil {
				return
			}
			if ctx.Err() != nil {
				yield(provider.Chunk{}, ctx.Err())
				return
			}
			if notice, ok := x.adapt(err, &once, attempt); ok {
				retry := &provider.Retry{Attempt: attempt, Reason: err}
				if !yield(provider.Chunk{Retry: retry, Notice: notice}, nil) {
					return
				}
				continue
			}
			yield(provider.Chunk{}, err)
			return
		}
	}
}

func (c *Client) adapted(model string) Adapted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.learn[model]
}

// exchange is one request and its answer.
type exchange struct {
	*Client
	r       *provider.Request
	adapted Adapted
	tools   []Tool
	sent    provider.Sent
	draft   *Draft
}

// run sends the request and yields what comes. A nil error means that Final
// was yielded or that the consumer has left.
func (x *exchange) run(ctx context.Context) error {
	var notices []string
	x.tools, notices = x.Client.tools.compile(x.dialect(), x.r.Tools, x.adapted)
	for _, n := range notices {
		if !x.draft.chunk(provider.Chunk{Notice: n}) {
			return nil
		}
	}
	out, err := x.Format.Build(x.r, x.tools, x.adapted)
	if err != nil {
		return &provider.Error{Class: provider.ClassFormat, ToolIndex: -1, Err: fmt.Errorf("build the request: %w", err)}
	}
	x.sent = provider.Sent{Model: x.r.Model, Bytes: out.Body.Len(), Messages: len(x.r.Messages), Tools: names(x.tools)}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := x.watch(out.Body.Len(), cancel)
	defer alive.stop()

	resp, err := x.post(ctx, out)
	if err != nil {
		return x.broken(ctx, err)
	}
	defer resp.Body.Close()
	alive.sign()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return x.refused(resp)
	}
	switch kind := resp.Header.Get("Content-Type"); {
	case strings.Contains(kind, "text/html"):
		return x.page(resp)
	case strings.Contains(kind, "json") && !strings.Contains(kind, "ndjson"):
		return x.whole(ctx, resp) // asked for or not
	}
	return x.stream(ctx, resp, alive)
}

func (x *exchange) dialect() provider.Dialect {
	d := x.Format.Dialect(x.r.Model)
	d.NoPatterns = d.NoPatterns || x.adapted.NoPatterns
	return d
}

// page makes an error of a web page: a login, a firewall, a wrong address.
func (x *exchange) page(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil {
		body = nil
	}
	e := provider.Classify(0, resp.Header, body, x.sent)
	page := "the answer is a web page"
	if e.Message != "" && e.Message != page {
		page += " (" + e.Message + ")"
	}
	e.Class, e.Message = provider.ClassFormat, page+"; check the address: "+x.Endpoint.BaseURL
	return e
}

const maxWhole = 128 << 20

func (x *exchange) whole(ctx context.Context, resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxWhole))
	if err != nil {
		return x.broken(ctx, err)
	}
	a := x.Format.Answer(x.r, x.draft)
	if err := a.Whole(body); err != nil {
		return x.classified(err)
	}
	whole, err := a.End()
	if err == nil && !whole && x.draft.Silent() {
		err = NoAnswer("the answer is empty")
	}
	if err != nil {
		return x.classified(err)
	}
	x.draft.final(nil)
	return nil
}

// maxAnswer bounds what one streamed answer may say: some local models repeat
// themselves for ever.
const maxAnswer = 16 << 20

func (x *exchange) stream(ctx context.Context, resp *http.Response, alive *pulse) error {
	events := NewReader(resp.Body)
	defer events.Release()
	a := x.Format.Answer(x.r, x.draft)
	done := false
	var broke error
	for !done {
		ev, err := events.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				broke = x.broken(ctx, err)
			}
			break
		}
		if ev.Comment {
			alive.faint()
			continue
		}
		alive.sign()
		if done, err = a.Event(ev); err != nil {
			broke = x.classified(err)
			break
		}
		if x.draft.stopped {
			return nil
		}
		if x.draft.size > maxAnswer {
			broke = &provider.Error{Class: provider.ClassInvalid, ToolIndex: -1, Message: fmt.Sprintf("the answer is longer than %d MB and goes on: the service does not stop", maxAnswer>>20)}
			break
		}
	}
	whole, err := a.End()
	switch {
	case x.draft.stopped:
		return nil
	case broke != nil && whole: // the end had come, only the connection's was unclean
	case broke != nil:
		return x.cut(broke)
	case err != nil:
		return x.classified(err)
	case !done && !whole:
		return x.cut(&provider.Error{Class: provider.ClassTimeout, ToolIndex: -1, Err: provider.ErrIncomplete})
	}
	if done {
		drain(resp.Body, alive)
	}
	x.draft.final(nil)
	return nil
}

// cut decides what a broken stream is worth: text that has come is kept when
// no tool call was under way, everything else is asked for again.
func (x *exchange) cut(err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	if x.draft.delivered() && x.draft.Calls.Len() == 0 {
		x.draft.final(e)
		return nil
	}
	e.Partial = x.draft.delivered()
	return e
}

// broken makes an Error of a failed connection. A caller who gave up gets his
// own error back.
func (x *exchange) broken(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	e := &provider.Error{Class: provider.ClassTimeout, ToolIndex: -1}
	switch {
	case errors.Is(cause, errStalled), errors.Is(cause, errTooLong):
		e.Err = fmt.Errorf("%w: %w", provider.ErrIncomplete, cause)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errForeign):
		e.Class, e.Err = provider.ClassFormat, err
	default:
		e.Err = fmt.Errorf("%w: %w", provider.ErrIncomplete, err)
	}
	return e
}

const maxErrorBody = 256 << 10

func (x *exchange) refused(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && len(body) == 0 { // the status is worth more than the reason why its text is missing
		body = nil
	}
	x.sent.Now = time.Now()
	e := provider.Classify(resp.StatusCode, resp.Header, body, x.sent)
	e.ToolIndex = x.original(e.ToolIndex)
	return e
}

// Failure is an error that a service wrote into its answer.
type Failure struct{ Body []byte }

func (f *Failure) Error() string { return "the service reports an error in its answer" }

// classified turns whatever reading an answer brought up into an Error.
func (x *exchange) classified(err error) error {
	var f *Failure
	var e *provider.Error
	switch {
	case errors.As(err, &f):
		e = provider.Classify(0, nil, f.Body, x.sent)
		e.ToolIndex = x.original(e.ToolIndex)
		if e.Class == provider.ClassUnknown && x.draft.Calls.Len() == 0 && !x.draft.delivered() {
			e.Class = provider.ClassServer
		}
	case errors.As(err, &e):
	default:
		e = &provider.Error{Class: provider.ClassInvalid, ToolIndex: -1, Err: err}
	}
	return e
}

// original is the place of a sent tool in the request.
func (x *exchange) original(index int) int {
	if index < 0 || index >= len(x.tools) {
		return -1
	}
	return x.tools[index].Index
}

// NoAnswer is the error of an answer in which nothing is.
func NoAnswer(what string) error {
	return &provider.Error{Class: provider.ClassInvalid, ToolIndex: -1, Message: what}
}

func names(tools []Tool) []string {
	list := make([]string, len(tools))
	for i, t := range tools {
		list[i] = t.Name
	}
	return list
}
