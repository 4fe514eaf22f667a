package agent

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/tool"
)

// bench is a set of tools that note what happens to them.
type bench struct {
	registry *tool.Registry

	mu      sync.Mutex
	ran     []string // name and arguments, in the order of starting
	running int
	most    int
	saw     map[string]string
}

type benchArgs struct {
	Path string `json:"path,omitempty"`
	MS   int    `json:"ms,omitempty"`
	N    int    `json:"n,omitempty"`
	Text string `json:"text,omitempty"`
}

func newBench() *bench {
	b := &bench{registry: tool.New(), saw: map[string]string{}}
	file := func(write bool) func(json.RawMessage) []tool.Effect {
		return func(raw json.RawMessage) []tool.Effect {
			var in benchArgs
			if err := json.Unmarshal(raw, &in); err != nil {
				panic(err)
			}
			return []tool.Effect{{Key: "file:" + in.Path, Write: write}}
		}
	}
	ok := func(ctx context.Context, c *tool.Call, in benchArgs) (any, error) {
		return map[string]any{"path": in.Path, "text": in.Text}, nil
	}
	b.add("read_file", file(false), ok)
	b.add("write_file", file(true), ok)
	b.add("patch", file(true), ok)
	b.add("terminal", nil, ok)
	b.add("todo", nil, ok)
	b.add("memory", nil, ok)
	b.add("execute_code", nil, ok)
	b.add("get", tool.ReadsNothing, ok)
	b.add("panics", tool.ReadsNothing, func(context.Context, *tool.Call, benchArgs) (any, error) { panic("boom") })
	b.add("exits", tool.ReadsNothing, func(context.Context, *tool.Call, benchArgs) (any, error) {
		runtime.Goexit()
		return nil, nil
	})
	b.add("badeffects", func(json.RawMessage) []tool.Effect { panic("what is that") }, ok)
	b.add("fails", tool.ReadsNothing, func(context.Context, *tool.Call, benchArgs) (any, error) { return nil, errors.New("422") })
	b.add("list", tool.ReadsNothing, func(context.Context, *tool.Call, benchArgs) (any, error) { return []int{1, 2}, nil })
	b.add("big", tool.ReadsNothing, func(_ context.Context, _ *tool.Call, in benchArgs) (any, error) {
		return strings.Repeat("x", in.N-len(`{"result":""}`)), nil
	})
	b.add("clarify", nil, func(ctx context.Context, c *tool.Call, in benchArgs) (any, error) {
		asker, err := tool.Use[ask.Asker](c.Session.Services)
		if err != nil {
			return nil, err
		}
		x, err := asker.Ask(ctx, ask.Request{Kind: ask.Question, Text: in.Text})
		return x.Text, err
	})
	b.add("ask_at_once", tool.ReadsNothing, func(ctx context.Context, c *tool.Call, in benchArgs) (any, error) {
		asker, err := tool.Use[ask.Asker](c.Session.Services)
		if err != nil {
			return nil, err
		}
		x, err := asker.Ask(ctx, ask.Request{Kind: ask.Question, Text: in.Text})
		return x.Text, err
	})
	b.add("look_back", tool.ReadsNothing, func(_ context.Context, c *tool.Call, in benchArgs) (any, error) {
		loop, err := tool.Use[Loop](c.Session.Services)
		if err != nil {
			return nil, err
		}
		last, found := loop.LastResult(in.Text)
		return map[string]any{"last": last, "found": found}, nil
	})
	return b
}

func (b *bench) add(name string, effects func(json.RawMessage) []tool.Effect, run func(context.Context, *tool.Call, benchArgs) (any, error)) {
	t := tool.Func(tool.Tool{Name: name, Toolset: "bench", About: name, Effects: effects}, func(ctx context.Context, c *tool.Call, in benchArgs) (any, error) {
		b.mu.Lock()
		b.ran = append(b.ran, name+" "+in.Path+in.Text)
		b.running++
		b.most = max(b.most, b.running)
		b.mu.Unlock()
		defer func() {
			b.mu.Lock()
			b.running--
			b.mu.Unlock()
		}()
		c.Progress(tool.Update{Text: "working"})
		if in.MS > 0 {
			select {
			case <-time.After(time.Duration(in.MS) * time.Millisecond):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return run(ctx, c, in)
	})
	if err := b.registry.Add(t); err != nil {
		panic(err)
	}
}
