package providertest

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/provider"
)

func testErrors(t *testing.T, s Suite) {
	for _, c := range []struct {
		name  string
		reply fakemodel.Reply
		class provider.Class
		check func(e *provider.Error) bool
	}{
		{"401", fakemodel.Fail(401, ""), provider.ClassAuth, nil},
		{"402", fakemodel.Fail(402, ""), provider.ClassBilling, nil},
		{"404 model", fakemodel.Fail(404, `{"error":{"message":"model not found: m"}}`), provider.ClassModelNotFound, nil},
		{"413", fakemodel.Fail(413, ""), provider.ClassPayloadTooLarge, nil},
		{"429", fakemodel.Fail(429, "", "Retry-After", "7"), provider.ClassRateLimit, func(e *provider.Error) bool { return e.RetryAfter == 7*time.Second }},
		{"500", fakemodel.Fail(500, ""), provider.ClassServer, nil},
		{"503", fakemodel.Fail(503, ""), provider.ClassOverloaded, nil},
		{"529", fakemodel.Fail(529, `{"error":{"message":"overloaded"}}`), provider.ClassOverloaded, nil},
		{"overflow", fakemodel.Fail(400, `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`), provider.ClassContextOverflow, func(e *provider.Error) bool { return e.Window == 200000 }},
		{"no JSON", fakemodel.Reply{Whole: "oops"}, provider.ClassInvalid, nil},
		{"nothing", fakemodel.Reply{Whole: "{}"}, provider.ClassInvalid, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := fakemodel.New(t, c.reply).Repeat()
			got := watch(context.Background(), s.open(t, server), s.ask("hi"))
			var e *provider.Error
			if !errors.As(got.err, &e) || e.Class != c.class {
				t.Fatalf("got %#v", got.err)
			}
			if c.reply.Status != 0 && e.Status != c.reply.Status {
				t.Errorf("status %d", e.Status)
			}
			if c.check != nil && !c.check(e) {
				t.Errorf("got %+v", e)
			}
			if n := len(server.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func testCancel(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.Reply{Text: "the rest of this never comes", Hang: true, After: 4})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range s.open(t, server).Stream(ctx, s.ask("hi")) {
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v", last)
	}

	// and before anything has come
	server = fakemodel.New(t, fakemodel.Text("never read"))
	if got := watch(ctx, s.open(t, server), s.ask("hi")); !errors.Is(got.err, context.Canceled) {
		t.Errorf("got %v", got.err)
	}
}

func testBreak(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.Reply{Text: "the rest of this never comes", Hang: true, After: 4})
	next, stop := iter.Pull2(s.open(t, server).Stream(context.Background(), s.ask("hi")))
	if _, err, ok := next(); err != nil || !ok {
		t.Errorf("got %v, %v", err, ok)
	}
	stop()
	noGoroutine(t)
}

// noGoroutine fails when a wire started one that is still there. Goroutines of
// tests that run beside this one have the test's frame in them, or are a timer
// of theirs that fires just now.
func noGoroutine(t *testing.T) {
	t.Helper()
	buf := make([]byte, 4<<20)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(g, "hermes/internal/wire.") && !strings.Contains(g, "testing.tRunner") && !strings.Contains(g, "created by time.goFunc") {
			t.Errorf("left behind:\n%s", g)
		}
	}
}

// testCut: case 37. The partial text reaches the consumer, marked.
func testCut(t *testing.T, s Suite) {
	text := fakemodel.Reply{Text: "a longer text, which comes in several pieces"}
	server := fakemodel.New(t, fakemodel.CutAfter(5, text))
	got := watch(context.Background(), s.open(t, server), s.ask("hi"))
	if got.err != nil || got.truncated == nil || got.final == nil {
		t.Fatalf("got %+v", got)
	}
	if got.final.FinishReason != chat.FinishLength || got.text == "" || got.final.Content.String() != got.text || !strings.HasPrefix(text.Text, got.text) {
		t.Errorf("final %+v, text %q", got.final, got.text)
	}

	server = fakemodel.New(t, fakemodel.CutAfter(0, text))
	got = watch(context.Background(), s.open(t, server), s.ask("hi"))
	var e *provider.Error
	if !errors.As(got.err, &e) || e.Class != provider.ClassTimeout || !errors.Is(got.err, provider.ErrIncomplete) || e.Partial {
		t.Errorf("before anything: %#v", got.err)
	}
}

// testStall: silence is a failure that passes, not a hang.
func testStall(t *testing.T, s Suite) {
	server := fakemodel.New(t, fakemodel.Reply{Hang: true, Text: "x"})
	e := s.endpoint(server.URL)
	e.Stall = 20 * time.Millisecond
	got := watch(context.Background(), s.openAt(t, e), s.ask("hi"))
	var err *provider.Error
	if got.truncated == nil && (!errors.As(got.err, &err) || err.Class != provider.ClassTimeout || !err.Retryable()) {
		t.Errorf("got %#v", got)
	}
}

// testHosts: the key is sent, in a header, and neither it nor the conversation
// follows a redirect to another host.
func testHosts(t *testing.T, s Suite) {
	foreign, server := fakemodel.New(t, fakemodel.Text("ok")), fakemodel.New(t, fakemodel.Text("ok"))
	c := s.open(t, server)
	if got := watch(context.Background(), c, s.ask("hi")); got.err != nil {
		t.Fatal(got.err)
	}
	first := server.Requests()[0]
	if !holds(first.Header, Key) || strings.Contains(first.Path+first.Query, Key) {
		t.Errorf("headers %v, address %s?%s", first.Header, first.Path, first.Query)
	}
	server.Handle(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, foreign.URL+r.URL.RequestURI(), http.StatusPermanentRedirect)
		return true
	})
	var e *provider.Error
	if got := watch(context.Background(), c, s.ask("hi")); !errors.As(got.err, &e) || e.Retryable() || !strings.Contains(e.Error(), "another address") {
		t.Errorf("got %v", got.err)
	}
	if got := foreign.Requests(); len(got) > 0 {
		t.Errorf("the other host got the conversation: %s", got[0].Body)
	}
}

func holds(h http.Header, s string) bool {
	for _, values := range h {
		if strings.Contains(strings.Join(values, " "), s) {
			return true
		}
	}
	return false
}
