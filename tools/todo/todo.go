// Package todo is the tool with which a model keeps its plan. The list lives
// in the conversation: it is found again in the newest result, so that it
// survives a restart and a compaction.
package todo

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/tool"
)

//go:embed todo.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "todos": {
  "type": "array",
  "description": "The items to write; leave out to read the list.",
  "items": {
   "type": "object",
   "properties": {
    "id": {"type": "string", "description": "A short name of the item, unique in the list."},
    "content": {"type": "string", "description": "What has to be done."},
    "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"], "description": "How far it is."}
   },
   "required": ["id", "content", "status"]
  }
 },
 "merge": {"type": "boolean", "description": "true: update by id and add; false: replace the list.", "default": false}
},
"required": []
}`)

// lenient is the schema that calls are judged by: a merge may name only what
// changes, and a missing text or state has a stand-in.
var lenient = json.RawMessage(strings.Replace(strings.Replace(string(schema),
	`"required": ["id", "content", "status"]`, `"required": []`, 1),
	`"enum": ["pending", "in_progress", "completed", "cancelled"], `, ``, 1))

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "todo", Toolset: "todo", Emoji: "📋", About: about, Schema: lenient,
		Describe: func(*tool.Session, []string) *tool.Tool { return &tool.Tool{About: about, Schema: schema} },
		Needs:    []tool.Need{agent.NeedsLoop()},
		Effects:  func(json.RawMessage) []tool.Effect { return []tool.Effect{{Key: "todo", Write: true}} },
		Harmless: tool.Always,
		Carry:    carry,
	}, run))
}

type item struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

type list struct {
	mu    sync.Mutex
	read  bool // the conversation was searched for an older list
	items []item
}

var lists = tool.Local[*list]{New: func(*tool.Session) *list { return &list{} }}

type args struct {
	Todos *[]item `json:"todos"`
	Merge bool    `json:"merge"`
}

type result struct {
	Todos   []item         `json:"todos"`
	Summary map[string]int `json:"summary"`
}

func run(_ context.Context, c *tool.Call, in args) (any, error) {
	l := lists.Get(c.Session)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.read {
		l.restore(c.Session)
	}
	switch {
	case in.Todos == nil:
	case in.Merge:
		l.merge(*in.Todos)
	default:
		l.items = nil
		l.merge(*in.Todos)
	}
	sum := map[string]int{"total": len(l.items), "pending": 0, "in_progress": 0, "completed": 0, "cancelled": 0}
	for _, it := range l.items {
		sum[it.Status]++
	}
	return result{append([]item{}, l.items...), sum}, nil
}

// restore takes the list from the newest result in the conversation.
func (l *list) restore(s *tool.Session) {
	l.read = true
	loop, err := tool.Use[agent.Loop](s.Services)
	if err != nil {
		return
	}
	text, ok := loop.LastResult("todo")
	var r result
	if ok && json.Unmarshal([]byte(text), &r) == nil {
		l.items = r.Todos
	}
}

func (l *list) merge(in []item) {
	for i, it := range in {
		if repeatedLater(in, i) {
			continue // the last of several with one id counts, where it stands
		}
		it.ID, it.Content = strings.TrimSpace(it.ID), strings.TrimSpace(it.Content)
		at := -1
		for i := range l.items {
			if l.items[i].ID == it.ID && it.ID != "" {
				at = i
			}
		}
		if at < 0 {
			l.items = append(l.items, complete(it))
			continue
		}
		if it.Content != "" {
			l.items[at].Content = it.Content
		}
		if known(it.Status) {
			l.items[at].Status = it.Status
		}
	}
}

func repeatedLater(in []item, i int) bool {
	id := strings.TrimSpace(in[i].ID)
	for _, later := range in[i+1:] {
		if id != "" && strings.TrimSpace(later.ID) == id {
			return true
		}
	}
	return false
}

func complete(it item) item {
	if it.ID == "" {
		it.ID = "?"
	}
	if it.Content == "" {
		it.Content = "(no description)"
	}
	if !known(it.Status) {
		it.Status = "pending"
	}
	return it
}

func known(status string) bool {
	switch status {
	case "pending", "in_progress", "completed", "cancelled":
		return true
	}
	return false
}

// carry is what must survive a compaction: the items that are still open.
func carry(s *tool.Session) string {
	l := lists.Get(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.read {
		l.restore(s)
	}
	var b strings.Builder
	for _, it := range l.items {
		mark := map[string]string{"pending": "[ ]", "in_progress": "[>]"}[it.Status]
		if mark != "" {
			fmt.Fprintf(&b, "- %s %s. %s\n", mark, it.ID, it.Content)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "The open items of the task list:\n" + b.String()
}
