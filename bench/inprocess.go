package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hermes-go/hermes/tool"
)

// emptyTool does nothing, so that only the way to it is measured.
func emptyTool(i int) tool.Tool {
	return tool.Tool{
		Name: fmt.Sprintf("empty_%d", i), Toolset: "bench", About: "It does nothing, in a few words of about the usual length.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"a path"},"count":{"type":"integer","description":"how many","default":1},"mode":{"type":"string","enum":["one","two"]}},"required":["path"]}`),
		Run:    func(context.Context, *tool.Call) (any, error) { return nil, nil },
	}
}

func registry(n int) (*tool.Registry, []string, error) {
	r := tool.New()
	for i := range n {
		if err := r.Add(emptyTool(i)); err != nil {
			return nil, nil, fmt.Errorf("add tool: %w", err)
		}
	}
	return r, r.Names(), nil
}

// dispatch measures the way of a call through coercion, validation and limits.
func dispatch() ([]result, error) {
	r, names, err := registry(100)
	if err != nil {
		return nil, err
	}
	r.Use(tool.Limit(r))
	s := &tool.Session{ID: "bench", Services: tool.NewServices(nil)}
	ctx := context.Background()
	args := json.RawMessage(`{"path":"a/b","count":2}`)
	const n = 2000
	var each []time.Duration
	for range 30 {
		began := time.Now()
		for range n {
			if got := r.Dispatch(ctx, &tool.Call{ID: "c", Name: names[0], Args: args, Session: s}); got.Err != nil {
				return nil, fmt.Errorf("dispatch: %w", got.Err)
			}
		}
		each = append(each, time.Since(began)/n)
	}
	return []result{{"dispatch of an empty tool", float64(median(each)) / 1000, 5, "µs", "three arguments declared, two given"}}, nil
}

// definitions measures what the first turn of a process pays for its tools.
func definitions() ([]result, error) {
	var each []time.Duration
	for range 9 {
		r, names, err := registry(1000)
		if err != nil {
			return nil, err
		}
		s := &tool.Session{ID: "bench", Services: tool.NewServices(nil)}
		began := time.Now()
		defs := r.Definitions(context.Background(), s, names)
		each = append(each, time.Since(began))
		if len(defs) != 1000 {
			return nil, fmt.Errorf("%d definitions, want 1000", len(defs))
		}
	}
	return []result{{"definitions of 1,000 tools, the first time", ms(median(each)), 20, "ms", ""}}, nil
}
