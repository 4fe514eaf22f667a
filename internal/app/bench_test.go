package app

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hermes-go/hermes/internal/agent"
)

// benchHome makes a home for benchmarks.
func benchHome(b *testing.B, config string) Options {
	b.Helper()
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	return Options{Home: dir, UserHome: dir, WorkDir: dir, Environ: []string{"PATH=" + os.Getenv("PATH")}}
}

func benchApp(b *testing.B, o Options) *App {
	b.Helper()
	a, err := Open(o)
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// BenchmarkOneShot is what `hermes chat -q hi` does between main and exit, with
// the offline model, on a home that exists.
func BenchmarkOneShot(b *testing.B) {
	o := benchHome(b, "model: {provider: offline}\n")
	for b.Loop() {
		a := benchApp(b, o)
		c, err := a.Converse(b.Context(), Ask{Title: true})
		if err != nil {
			b.Fatal(err)
		}
		benchTurn(b, c)
		if err := c.End(b.Context(), "query_done"); err != nil {
			b.Fatal(err)
		}
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchTurn(b *testing.B, c *Conversation) {
	b.Helper()
	for e, err := range c.Turn(b.Context(), "hi") {
		if err != nil {
			b.Error(err)
		}
		if done, ok := e.(agent.Done); ok && done.Status != agent.OK {
			b.Error(done.Status, done.Err)
		}
	}
}

// callsThenText is a model that calls a tool in its first answers of a
// conversation, %d in the arguments being a number that grows, and says "Done."
// then.
func callsThenText(b *testing.B, rounds int, name, args string) (url string) {
	const head = `data: {"choices":[{"index":0,"delta":`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if n := bytes.Count(body, []byte(`"role":"assistant"`)); n < rounds {
			fmt.Fprintf(w, head+`{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]},"finish_reason":"tool_calls"}]}`+"\n\n", n, name, fmt.Sprintf(args, n+1))
		} else {
			fmt.Fprint(w, head+`{"content":"Done."},"finish_reason":"stop"}]}`+"\n\n")
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	b.Cleanup(s.Close)
	return s.URL
}

func customModel(url string) string {
	return "model: {provider: custom, default: bench, base_url: " + url + "/v1, api_key: sk-bench}\n"
}

// BenchmarkRound is a turn of 40 tool rounds, per round; the model server runs
// in the same process.
func BenchmarkRound(b *testing.B) {
	const rounds = 40
	for _, call := range []struct{ tool, args string }{{"todo", `{"merge":false,"todos":[{"id":"%d","content":"x","status":"pending"}]}`}, {"read_file", `{"path":"config.yaml","limit":%d}`}, {"terminal", `{"command":"true # %d"}`}} {
		b.Run(call.tool, func(b *testing.B) {
			a := benchApp(b, benchHome(b, customModel(callsThenText(b, rounds, call.tool, call.args))))
			for b.Loop() {
				c, err := a.Converse(b.Context(), Ask{})
				if err != nil {
					b.Fatal(err)
				}
				benchTurn(b, c)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*rounds), "µs/round")
			if err := a.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkSessions is 200 conversations at once, each with one tool round.
func BenchmarkSessions(b *testing.B) {
	const sessions = 200
	a := benchApp(b, benchHome(b, customModel(callsThenText(b, 1, "todo", `{"todos":[{"id":"%d","content":"x","status":"pending"}]}`))))
	for b.Loop() {
		var wg sync.WaitGroup
		for range sessions {
			wg.Go(func() {
				c, err := a.Converse(b.Context(), Ask{})
				if err != nil {
					b.Error(err)
					return
				}
				benchTurn(b, c)
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*sessions), "µs/session")
	if err := a.Close(); err != nil {
		b.Fatal(err)
	}
}
