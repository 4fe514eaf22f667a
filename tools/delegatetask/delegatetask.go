// Package delegatetask is the tool with which a model hands work to child
// agents. Running them is internal/delegate's matter; here arguments become
// tasks and results become what the model reads.
package delegatetask

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/delegate"
	"github.com/hermes-go/hermes/tool"
)

//go:embed delegatetask.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "goal": {"type": "string", "description": "What one child is to do, complete in itself."},
 "context": {"type": "string", "description": "What it needs to know: paths, findings, constraints."},
 "toolsets": {"type": "array", "items": {"type": "string"}, "description": "Only these toolsets, e.g. [\"file\", \"terminal\"]; left out: all of yours."},
 "role": {"type": "string", "enum": ["leaf", "orchestrator"], "description": "orchestrator: may delegate further, where the settings allow it.", "default": "leaf"},
 "tasks": {"type": "array", "description": "Several children side by side, instead of goal.", "items": {"type": "object", "properties": {
  "goal": {"type": "string", "description": "What this child is to do, complete in itself."},
  "context": {"type": "string", "description": "What it needs to know."},
  "toolsets": {"type": "array", "items": {"type": "string"}, "description": "Only these toolsets."},
  "role": {"type": "string", "enum": ["leaf", "orchestrator"], "description": "orchestrator: may delegate further."}
 }, "required": ["goal"]}}
},
"required": []
}`)

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "delegate_task", Toolset: "delegation", Emoji: "🔀", About: about, Schema: schema,
		Needs: []tool.Need{agent.NeedsLoop(), tool.Needs[delegate.Spawner]()},
	}, run))
}

type task struct {
	Goal     string   `json:"goal"`
	Context  string   `json:"context"`
	Toolsets []string `json:"toolsets"`
	Role     string   `json:"role"`
}

type args struct {
	task
	Tasks []task `json:"tasks"`
}

type result struct {
	Results []delegate.Result `json:"results"`
	Seconds float64           `json:"total_duration_seconds"`
}

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	s, err := tool.Use[delegate.Spawner](c.Session.Services)
	if err != nil {
		return nil, err
	}
	tasks := in.Tasks
	if len(tasks) == 0 {
		tasks = []task{in.task}
	}
	specs := make([]delegate.Spec, len(tasks))
	for i, t := range tasks {
		if strings.TrimSpace(t.Goal) == "" {
			if len(in.Tasks) == 0 {
				return nil, errors.New("give goal, or tasks with a goal each")
			}
			return nil, fmt.Errorf("task %d has no goal; nothing was started", i)
		}
		specs[i] = delegate.Spec{Goal: t.Goal, Context: t.Context, Toolsets: t.Toolsets, Orchestrator: t.Role == "orchestrator"}
		if len(t.Toolsets) == 0 {
			specs[i].Toolsets = nil
		}
	}
	began := time.Now()
	results, err := delegate.Run(ctx, s, specs, func(what string) { c.Progress(tool.Update{Text: what}) })
	if err != nil {
		return nil, err
	}
	out := result{Results: results, Seconds: time.Since(began).Round(time.Millisecond).Seconds()}
	for _, r := range results {
		if r.Status == delegate.Completed {
			return out, nil
		}
	}
	return nil, tool.Fail(out, fmt.Sprintf("no child completed its task; the first one: %s, %s", results[0].Status, results[0].Error))
}
