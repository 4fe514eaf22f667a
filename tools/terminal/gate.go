package terminal

import (
	"context"
	"os"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shell"
	"github.com/hermes-go/hermes/tool"
)

// task is what outlasts a call.
type task struct {
	mu   sync.Mutex
	tree string // where the task began: its working tree

	password string // for sudo, as the person typed it
	asked    bool
}

var tasks = tool.Local[*task]{New: func(*tool.Session) *task { return &task{} }}

// gate judges the command and asks where a person has to decide. Nobody to
// ask means no.
func (w *work) gate(ctx context.Context) error {
	if i, ok := w.env.(backend.Isolated); ok && i.Isolated() {
		return nil
	}
	place := w.place(ctx)
	v := w.judge(place)
	if v.Class == shell.Free {
		return nil
	}
	var reasons []string
	for _, f := range v.Findings {
		if f.Class == v.Class {
			reasons = append(reasons, w.mask(f.String()))
		}
	}
	why := strings.Join(reasons, "; ")
	if v.Class == shell.Hardline {
		return refuse("blocked", "BLOCKED (hardline): "+why+". This is never run for you, whatever the settings; do not retry it in another form.")
	}
	approver, err := tool.Use[ask.Approver](w.Session.Services)
	if err != nil {
		return refuse("blocked", "BLOCKED: this needs a person's approval and nobody can be asked here: "+why+". Do not retry it: take another way, or tell the user what to run.")
	}
	action := w.Command
	if w.Workdir != "" {
		action = "cd " + w.Workdir + "\n" + action
	}
	r := ask.Request{
		Kind: ask.Approval, Text: "Run this command?", Action: w.mask(action), Reasons: reasons, Keys: v.Rules(),
		Exact: shell.Exact(place.Dir, w.Command), NoSave: w.mask(w.Command) != w.Command, // a key is not written into the allowlist
	}
	if err := approver.Approve(ctx, r); err != nil {
		return refuse("blocked", err.Error()+" ("+why+")")
	}
	w.approval = "approved: " + why
	return nil
}

func (w *work) judge(place shell.Env) shell.Verdict {
	switch l := backend.LanguageOf(w.env); l {
	case backend.POSIX:
		return shell.JudgeFile(w.file, place)
	case backend.PowerShell:
		return shell.JudgeWindows(w.Command, shell.PowerShell, place)
	default:
		return shell.Verdict{Class: shell.Ask, Findings: []shell.Finding{{
			Class: shell.Ask, Rule: "unread_language", Reason: "commands in " + string(l) + " are not read, so a person decides", Text: w.Command, Line: 1, Col: 1,
		}}}
	}
}

// place tells the judge where the command would run.
func (w *work) place(ctx context.Context) shell.Env {
	p := shell.Env{Private: w.set.Private}
	p.Dir, _ = w.env.Cwd(ctx) // unknown is an answer too: relative paths are asked about
	w.task.mu.Lock()
	if w.task.tree == "" {
		w.task.tree = p.Dir
	}
	p.Tree = w.task.tree
	w.task.mu.Unlock()
	if fs, ok := w.env.(backend.FileSystem); ok {
		p.Home, _ = fs.Home(ctx) // as above
		if tmp, err := fs.TempDir(ctx); err == nil && tmp != "" {
			p.Tmp = []string{tmp}
		}
	}
	switch d := w.Workdir; {
	case d == "":
	case d == "~" || strings.HasPrefix(d, "~/"):
		p.Dir = p.Home + d[1:]
	case strings.HasPrefix(d, "/") || os.PathSeparator != '/' && len(d) > 1 && d[1] == ':':
		p.Dir = d
	default:
		p.Dir += "/" + d
	}
	return p
}
