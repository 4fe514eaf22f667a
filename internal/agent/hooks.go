package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hermes-go/hermes/tool"
)

// HookEvent is something hosts and shell hooks may react to, by the original's
// hook names.
type HookEvent struct {
	Name string
	Data map[string]any
}

// HookResult is what the hooks of one event answered together.
type HookResult struct {
	Block   string          // pre_tool_call: why the call may not run
	Context []string        // pre_llm_call: text for the model, never stored
	Replace json.RawMessage // transform_tool_result: what the model reads instead
}

// Hooks runs the hooks of an event. A failing hook never stops a turn.
type Hooks interface {
	Fire(ctx context.Context, e HookEvent) HookResult
}

// fire runs the hooks of an event that belongs to the turn.
func (t *turn) fire(ctx context.Context, name string, data map[string]any) HookResult {
	if t.Hooks == nil {
		return HookResult{}
	}
	data["session_id"], data["model"], data["platform"] = t.s.ID, t.s.Model, t.s.Platform
	return fireSafely(ctx, t.Hooks, t.Log, HookEvent{Name: name, Data: data})
}

// fireSafely keeps a panic of a hook from ending more than the hook.
func fireSafely(ctx context.Context, h Hooks, log *slog.Logger, e HookEvent) (r HookResult) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("hook panicked", "hook", e.Name, "panic", fmt.Sprint(p))
			r = HookResult{}
		}
	}()
	return h.Fire(ctx, e)
}

// ToolHooks is middleware for a tool.Registry that fires the hooks around a
// call: pre_tool_call may block it, transform_tool_result may replace what the
// model reads, post_tool_call sees it. It is middleware, not part of the loop,
// so that a call that a tool makes meets the same hooks as the model's own.
func ToolHooks(h Hooks, log *slog.Logger) func(tool.Handler) tool.Handler {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return func(next tool.Handler) tool.Handler {
		return func(ctx context.Context, c *tool.Call) (any, error) {
			data := func() map[string]any {
				return map[string]any{
					"tool_name": c.Name, "args": c.Args, "tool_call_id": c.ID,
					"session_id": c.Session.ID, "task_id": c.Session.TaskID,
				}
			}
			if r := fireSafely(ctx, h, log, HookEvent{"pre_tool_call", data()}); r.Block != "" {
				return nil, errors.New(r.Block)
			}
			began := time.Now()
			v, err := next(ctx, c)
			after := data()
			after["duration_ms"] = time.Since(began).Milliseconds()
			out, isOutput := v.(tool.Output)
			if !isOutput {
				out.Value = v
			}
			after["result"] = out.Value
			if err != nil {
				after["result"], after["error"] = nil, err.Error()
			}
			fireSafely(ctx, h, log, HookEvent{"post_tool_call", after})
			r := fireSafely(ctx, h, log, HookEvent{"transform_tool_result", after})
			if err != nil || !json.Valid(r.Replace) {
				return v, err
			}
			if isOutput {
				out.Value = r.Replace
				return out, nil
			}
			return r.Replace, nil
		}
	}
}
