// Package memory is the tool with which a model keeps facts for later
// sessions. It is not the store: internal/memory is.
package memory

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/memory"
	"github.com/hermes-go/hermes/tool"
)

//go:embed memory.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "action": {"type": "string", "enum": ["add", "replace", "remove"], "description": "What to do."},
 "target": {"type": "string", "enum": ["memory", "user"], "description": "\"memory\" for your own notes, \"user\" for facts about the user."},
 "content": {"type": "string", "description": "The entry's text, for add and replace."},
 "old_text": {"type": "string", "description": "A part of the entry to replace or remove that no other entry holds."}
},
"required": ["action", "target"]
}`)

type args struct {
	Action  string        `json:"action"`
	Target  memory.Target `json:"target"`
	Content string        `json:"content"`
	OldText string        `json:"old_text"`
}

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "memory", Toolset: "memory", Emoji: "🧠", About: about, Schema: schema,
		Needs:   []tool.Need{agent.NeedsLoop(), tool.Needs[*memory.Store]()},
		Effects: func(json.RawMessage) []tool.Effect { return []tool.Effect{{Key: "memory", Write: true}} },
	}, run))
}

// result is the original's shape.
type result struct {
	Success    bool          `json:"success"`
	Target     memory.Target `json:"target"`
	Entries    []string      `json:"entries"`
	Usage      string        `json:"usage"`
	EntryCount int           `json:"entry_count"`
	Message    string        `json:"message"`
}

func run(_ context.Context, c *tool.Call, in args) (any, error) {
	store, err := tool.Use[*memory.Store](c.Session.Services)
	if err != nil {
		return nil, err
	}
	var change memory.Change
	var done string
	switch in.Action {
	case "add":
		change, err = store.Add(in.Target, in.Content)
		done = "Entry added."
	case "replace":
		change, err = store.Replace(in.Target, in.OldText, in.Content)
		done = "Entry replaced."
	case "remove":
		change, err = store.Remove(in.Target, in.OldText)
		done = "Entry removed."
	}
	if err != nil {
		return nil, refusal(store, in, err)
	}
	if change.Note != "" {
		done = change.Note
	}
	return result{true, in.Target, orEmpty(change.Entries), memory.Usage(change.Used, store.Limit(in.Target)), len(change.Entries), done}, nil
}

// refusal adds to an error what the model needs to do better.
func refusal(store *memory.Store, in args, err error) error {
	v := map[string]any{"success": false, "error": err.Error()}
	var full *memory.LimitError
	var several *memory.AmbiguousError
	switch {
	case errors.As(err, &full):
		v["current_entries"] = full.Entries
		v["usage"] = fmt.Sprintf("%d/%d", full.Used, full.Limit)
	case errors.As(err, &several):
		v["matches"] = several.Matches
	case errors.Is(err, memory.ErrNoMatch):
		entries, readErr := store.Entries(in.Target)
		if readErr != nil {
			return readErr
		}
		v["current_entries"] = orEmpty(entries)
	}
	return tool.Fail(v, err.Error())
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
