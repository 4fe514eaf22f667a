// Package sessionsearch is the tool with which a model looks into past
// conversations. Finding messages is internal/store's matter; here hits become
// conversations, and conversations become what is worth reading of them.
package sessionsearch

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/tool"
)

//go:embed sessionsearch.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {
 "query": {"type": "string", "description": "What to look for; leave out for the most recent conversations."},
 "role_filter": {"type": "string", "description": "Only messages of these roles, separated by commas: user, assistant, tool."},
 "limit": {"type": "integer", "description": "The most conversations to return, from 1 to 5.", "default": 3}
},
"required": []
}`)

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "session_search", Toolset: "session_search", Emoji: "🔍", About: about, Schema: schema,
		Needs:   []tool.Need{agent.NeedsLoop(), tool.Needs[store.Opener]()},
		Effects: tool.ReadsNothing,
	}, run))
}

type args struct {
	Query      string `json:"query"`
	RoleFilter string `json:"role_filter"`
	Limit      *int   `json:"limit"`
}

const (
	usual, most = 3, 5
	hitsRead    = 50
)

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	limit := usual
	if in.Limit != nil {
		limit = min(max(*in.Limit, 1), most)
	}
	o, err := tool.Use[store.Opener](c.Session.Services)
	if err != nil {
		return nil, refuse(err)
	}
	db, err := o.DB()
	if err != nil {
		return nil, refuse(err)
	}
	s := search{db: db, call: c, query: strings.TrimSpace(in.Query), limit: limit}
	for r := range strings.SplitSeq(in.RoleFilter, ",") {
		if r = strings.ToLower(strings.TrimSpace(r)); r != "" {
			s.roles = append(s.roles, r)
		}
	}
	if s.own, err = db.Root(ctx, c.Session.ID); err != nil {
		return nil, refuse(err)
	}
	var out any
	if s.query == "" {
		out, err = s.recent(ctx)
	} else {
		out, err = s.find(ctx)
	}
	if err != nil {
		return nil, refuse(err)
	}
	return out, nil
}

// refuse gives an error the shape that the original's has.
func refuse(err error) error {
	return tool.Fail(map[string]any{"success": false, "error": err.Error()}, err.Error())
}

type search struct {
	db    *store.DB
	call  *tool.Call
	query string
	roles []string
	limit int
	own   string // the root of the conversation that asks
}

type recentRow struct {
	SessionID    string `json:"session_id"`
	Title        string `json:"title"`
	Source       string `json:"source"`
	StartedAt    string `json:"started_at"`
	LastActive   string `json:"last_active"`
	MessageCount int    `json:"message_count"`
	Preview      string `json:"preview"`
}

type recentResult struct {
	Success bool        `json:"success"`
	Mode    string      `json:"mode"`
	Results []recentRow `json:"results"`
	Count   int         `json:"count"`
	Message string      `json:"message"`
}

// recent lists the newest conversations.
func (s search) recent(ctx context.Context) (any, error) {
	list, err := s.db.List(ctx, store.Filter{Limit: s.limit + 1}) // one of them may be our own
	if err != nil {
		return nil, err
	}
	out := recentResult{Success: true, Mode: "recent", Results: []recentRow{}}
	for _, l := range list {
		root, err := s.db.Root(ctx, l.ID)
		if err != nil {
			return nil, err
		}
		if root == s.own || len(out.Results) == s.limit {
			continue
		}
		out.Results = append(out.Results, recentRow{l.ID, l.Title, l.Source, when(l.Started), when(l.LastActive), l.Messages, l.Preview})
	}
	out.Count = len(out.Results)
	out.Message = fmt.Sprintf("The %d most recent conversations. Give a query to look into them.", out.Count)
	if out.Count == 0 {
		out.Message = "There is no earlier conversation."
	}
	return out, nil
}

func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
