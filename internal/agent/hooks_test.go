package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/tool"
)

type hookFunc func(HookEvent) HookResult

func (f hookFunc) Fire(_ context.Context, e HookEvent) HookResult { return f(e) }

func TestHooks(t *testing.T) {
	t.Parallel()
	t.Run("of the loop; F-117, what they add is never saved", func(t *testing.T) {
		t.Parallel()
		var fired []string
		w := newWorld(t, calls(call("a", "get", "{}")), text("ok"))
		w.agent.Hooks = hookFunc(func(e HookEvent) HookResult {
			fired = append(fired, e.Name)
			want(t, "session", e.Data["session_id"], any("s1"))
			return HookResult{Context: []string{"weather: rain", "mood: good"}}
		})
		w.say("go")
		want(t, "fired", strings.Join(fired, " "), "on_session_start pre_llm_call pre_api_request post_api_request pre_api_request post_api_request post_llm_call on_session_end")
		want(t, "sent", w.model.requests[1].Messages[0].Content.String(), "go\n\nweather: rain\n\nmood: good")
		want(t, "stored", w.session.History[0].Content.String(), "go")
	})
	t.Run("that panic", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, calls(call("a", "get", "{}")), text("ok"))
		w.agent.Hooks = hookFunc(func(HookEvent) HookResult { panic("hook") })
		w.tools.registry.Use(ToolHooks(w.agent.Hooks, nil))
		done, _ := w.say("go")
		want(t, "status", done.Status, OK)
		want(t, "ran", len(w.tools.ran), 1)
		want(t, "result", toolTexts(w.session.History)[0], `{"path":"","text":""}`)
	})
	t.Run("30-32 around tools", func(t *testing.T) {
		t.Parallel()
		var fired []string
		w := newWorld(t, calls(call("a", "get", "{}"), call("b", "terminal", "{}")), text("ok"))
		w.tools.registry.Use(ToolHooks(hookFunc(func(e HookEvent) HookResult {
			fired = append(fired, fmt.Sprint(e.Name, " ", e.Data["tool_name"]))
			switch {
			case e.Name == "pre_tool_call" && e.Data["tool_name"] == "terminal":
				return HookResult{Block: "not today"}
			case e.Name == "transform_tool_result":
				return HookResult{Replace: json.RawMessage(`{"result":"changed"}`)}
			}
			return HookResult{}
		}), nil))
		w.say("go")
		want(t, "fired", strings.Join(fired, ", "), "pre_tool_call get, post_tool_call get, transform_tool_result get, pre_tool_call terminal")
		want(t, "ran", strings.Join(w.tools.ran, ","), "get ")
		want(t, "results", strings.Join(toolTexts(w.session.History), ""), `{"result":"changed"}{"error":"not today"}`)
	})
	t.Run("a description that panics", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, text("ok"))
		if err := w.tools.registry.Add(tool.Tool{
			Name: "odd", Toolset: "x", Run: func(context.Context, *tool.Call) (any, error) { return nil, nil },
			Describe: func(*tool.Session, []string) *tool.Tool { panic("describe") },
		}); err != nil {
			t.Fatal(err)
		}
		w.session.Enabled = []string{"odd"}
		done, _ := w.say("go")
		want(t, "status", done.Status, Failed)
		wantErr(t, done.Err, "describe")
	})
}
