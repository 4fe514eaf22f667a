package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "github.com/hermes-go/hermes/backends/all"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/app"
	_ "github.com/hermes-go/hermes/providers/all"
	_ "github.com/hermes-go/hermes/tools/all"
)

const (
	sessionCount = 1000
	thinking     = 500 * time.Millisecond
)

// slowServer answers every request after the time that a model thinks: first
// with two tool calls, then with text.
func slowServer() (url string, done func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		time.Sleep(thinking)
		chunks := text("Done.")
		if !bytes.Contains(body, []byte(`"role":"tool"`)) {
			two := call(0, "call_a", "todo", `{}`) + "," + call(1, "call_b", "todo", `{\"todos\":[{\"id\":\"1\",\"content\":\"x\",\"status\":\"pending\"}]}`)
			chunks = []string{
				head + `{"role":"assistant","content":null,"tool_calls":[` + two + `]},"finish_reason":null}]}`,
				head + `{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`,
				"[DONE]",
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			fmt.Fprintf(w, "data: %s\n\n", c)
		}
	})}
	go func() { _ = s.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = s.Close() }, nil
}

// sessions runs a thousand conversations at once in a process of its own.
func (b *bench) sessions() ([]result, error) {
	url, done, err := slowServer()
	if err != nil {
		return nil, err
	}
	defer done()
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the bench: %w", err)
	}
	var walls []time.Duration
	most := 0.0
	for i := range 3 {
		home := filepath.Join(b.dir, fmt.Sprintf("sessions-%d", i))
		out, err := b.output(self, "sessions", home, url)
		if err != nil {
			return nil, err
		}
		var took struct{ Nanoseconds, Resident int64 }
		if err := json.Unmarshal([]byte(out), &took); err != nil {
			return nil, fmt.Errorf("sessions printed %q: %w", out, err)
		}
		walls = append(walls, time.Duration(took.Nanoseconds))
		most = max(most, float64(took.Resident)/1024)
	}
	return []result{
		{"1,000 sessions at once, two model calls and two tool calls each", median(walls).Seconds(), 1.5, "s", fmt.Sprintf("the model takes %.1f s of it; every message stored", 2*thinking.Seconds())},
		{"1,000 sessions at once, memory", most, 150, "MB", "the process that runs them"},
	}, nil
}

// runSessions is the other process. It prints how long the turns took.
func runSessions(home, url string) (err error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("make a home: %w", err)
	}
	config := fmt.Sprintf("model:\n  provider: custom\n  default: bench\n  base_url: %s/v1\n  api_key: sk-bench\n", url)
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(config), 0o600); err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	a, err := app.Open(app.Options{Home: home, UserHome: home, WorkDir: home, Environ: []string{"PATH=" + os.Getenv("PATH")}, Notice: func(string) {}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	var wg sync.WaitGroup
	errs := make([]error, sessionCount)
	began := time.Now()
	for i := range sessionCount {
		wg.Go(func() { errs[i] = converse(a) })
	}
	wg.Wait()
	took := time.Since(began)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("a session: %.300w", err)
	}
	_, err = fmt.Printf("{\"Nanoseconds\": %d, \"Resident\": %d}\n", took.Nanoseconds(), resident())
	return err
}

// resident is the most memory that this process had, in KB, where the system
// says so.
func resident() (kb int64) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		return 0
	}
	return kb
}

func converse(a *app.App) error {
	ctx := context.Background()
	c, err := a.Converse(ctx, app.Ask{Platform: "cli"})
	if err != nil {
		return err
	}
	tools := 0
	for ev, err := range c.Turn(ctx, "write down one thing") {
		if err != nil {
			return err
		}
		switch ev := ev.(type) {
		case agent.ToolEnd:
			if ev.Err != nil {
				return ev.Err
			}
			tools++
		case agent.Done:
			if ev.Status != agent.OK || tools != 2 {
				return fmt.Errorf("ended as %s after %d tools: %w", ev.Status, tools, ev.Err)
			}
		}
	}
	return nil
}
