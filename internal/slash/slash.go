// Package slash is the one table of commands that a person gives inside a
// conversation: what they are called, what they take and what they do to a
// Conversation. Every front that talks with people offers them. It prints
// nothing: a Reply says what to tell the person and what the front must do.
package slash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/store"
)

// Conversation is what the commands need of a session.
type Conversation interface {
	Key() string
	State() State
	Title(ctx context.Context) (string, error)
	SetTitle(ctx context.Context, title string) error
	Messages() []chat.Message
	Stored(ctx context.Context) (store.Session, error) // zero before the first message

	New(ctx context.Context, title string) error
	GoOn(ctx context.Context, ref string) error
	Recent(ctx context.Context, most int) ([]store.Summary, error)
	Branch(ctx context.Context, title string) (from string, err error)
	Undo(ctx context.Context, turns int) ([]chat.Message, error)
	Redo(ctx context.Context) ([]chat.Message, error)
	Compress(ctx context.Context, topic string) (before, after int, err error) // in messages
	SwitchModel(ctx context.Context, model, service string, always bool) (Switch, error)
	Tools(ctx context.Context) ([]Tool, error)
	Settings() [][2]string
	Goal(ctx context.Context) (Goal, error) // zero: none was set
	SetGoal(ctx context.Context, g Goal) error
	Caps(ctx context.Context) ([]string, error) // limits of spending that are set, a line each
	Save(ctx context.Context) (path string, err error)

	// The saved states of the working tree; ref is a number of the list or a hash.
	Checkpoints(ctx context.Context) (list string, err error)
	CheckpointDiff(ctx context.Context, ref string) (diff string, err error)
	Rollback(ctx context.Context, ref, file string) (report string, err error)

	// Skill prepares a skill that the person called for; the message it returns
	// stands for it when it is sent.
	Skill(ctx context.Context, name, instruction string) (message string, err error)
	ReloadSkills(ctx context.Context) (Reloaded, error)
}

// Skill is an installed skill as a command.
type Skill struct{ Name, Command, About string }

// Reloaded is what changed among the skills since the conversation began, or
// since they were reloaded last.
type Reloaded struct {
	Added, Removed []Skill
	Total          int
}

// State is what a conversation runs with.
type State struct {
	ID, Model, Service string
	Window             int // tokens; 0: unknown
	Used               int // tokens of the last request and its answer; 0: none yet
}

// Switch tells what a change of the model came to.
type Switch struct {
	From, To State
	Note     string // what the person should know of the settings that were written
}

// Tool is a tool as the conversation has it.
type Tool struct {
	Name, Toolset string
	Offered       bool
	Why           string // why not
}

// Scope says which fronts have a command.
type Scope int

// The scopes.
const (
	Everywhere Scope = iota
	Terminal         // only where a person sits at a screen
)

// Command is one row of the table.
type Command struct {
	Name     string
	Aliases  []string
	Args     string // for help: "[name]"
	About    string
	Scope    Scope
	Busy     bool // harmless while a turn runs
	Slow     bool // may take as long as an answer
	Run      func(ctx context.Context, c *Call) (Reply, error)
	Complete func(ctx context.Context, c *Call) []Choice // offered as its argument
}

// Call is a command with its argument.
type Call struct {
	Conv  Conversation
	Args  string
	Table *Table
}

// Reply is what a command comes to.
type Reply struct {
	Text string // for the person, in Markdown
	Send string // a message to answer now

	Quit   bool
	Clear  bool   // of the screen
	Change bool   // it is another conversation now, or has another past
	Queue  string // a message to answer after the running turn
	Steer  string // a remark for the running turn
	Busy   string // what typing during a turn does from now on
	Think  *bool  // show the model's thinking
}

// Table is a set of commands. Skills, which may be nil, lists the skills that
// are commands as well: they stand behind all others.
type Table struct {
	commands []*Command
	Skills   func() []Skill
}

// Reserved says whether a command of the table has the name.
func (t *Table) Reserved(name string) bool {
	return slices.ContainsFunc(t.commands, func(c *Command) bool { return slices.Contains(c.names(), name) })
}

// New returns the commands for a front of the scope, and more of its own.
func New(scope Scope, more ...Command) *Table {
	t := &Table{}
	for _, c := range append(builtin(), more...) {
		if c.Scope <= scope {
			t.commands = append(t.commands, &c)
		}
	}
	return t
}

// Commands lists the table in its order.
func (t *Table) Commands() []*Command { return slices.Clone(t.commands) }

// Parse takes a line apart. What does not look like a command is none: a path
// at the start of a message is part of the message.
func Parse(line string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if i := strings.IndexAny(rest, " \t\n"); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_?") != "" {
		return "", "", false
	}
	return name, args, true
}

// UnknownError names a command that is not there, and what may have been meant.
type UnknownError struct {
	Name string
	Near []string
	Many bool // the name begins several
}

func (e *UnknownError) Error() string {
	near := strings.Join(e.Near, ", ")
	switch {
	case e.Many:
		return fmt.Sprintf("/%s begins several commands: %s", e.Name, near)
	case near != "":
		return fmt.Sprintf("there is no command /%s; did you mean %s? /help lists all", e.Name, near)
	}
	return fmt.Sprintf("there is no command /%s; /help lists all", e.Name)
}

// Find resolves a name: a command's own, an alias, or a beginning that fits
// one command only.
func (t *Table) Find(name string) (*Command, error) {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "/")), "_", "-")
	all := t.all()
	for _, c := range all {
		if slices.Contains(c.names(), name) {
			return c, nil
		}
	}
	// A beginning means a command of the program before it means a skill.
	begins := beginning(all[:len(t.commands)], name)
	if begins == nil {
		begins = beginning(all[len(t.commands):], name)
	}
	if len(begins) == 1 {
		return begins[0], nil
	}
	e := &UnknownError{Name: name, Many: len(begins) > 1}
	for _, c := range begins {
		e.Near = append(e.Near, "/"+c.Name)
	}
	if e.Near == nil {
		e.Near = t.near(name)
	}
	return nil, e
}

func beginning(commands []*Command, name string) []*Command {
	var begins []*Command
	for _, c := range commands {
		if name != "" && slices.ContainsFunc(c.names(), func(n string) bool { return strings.HasPrefix(n, name) }) {
			begins = append(begins, c)
		}
	}
	return begins
}

func (c *Command) names() []string { return append([]string{c.Name}, c.Aliases...) }

// near lists the commands whose name is at most two changes away.
func (t *Table) near(name string) []string {
	const most = 3
	type candidate struct {
		name string
		far  int
	}
	var found []candidate
	for _, c := range t.all() {
		for _, n := range c.names() {
			if far := distance(name, n); far <= min(2, len(name)/2) {
				found = append(found, candidate{"/" + c.Name, far})
				break
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.far - b.far })
	var names []string
	for _, f := range found[:min(most, len(found))] {
		names = append(names, f.name)
	}
	return names
}

// distance counts the changes from a to b; two letters that changed places
// are one.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, now := rows[0], rows[1], rows[2]
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		rows[0], rows[1], rows[2] = last, now, before
	}
	return rows[1][len(b)]
}

// Run finds the command and runs it.
func (t *Table) Run(ctx context.Context, conv Conversation, name, args string) (Reply, error) {
	c, err := t.Find(name)
	if err != nil {
		return Reply{}, err
	}
	return c.Run(ctx, &Call{Conv: conv, Args: args, Table: t})
}

// Complete returns what a line that ends in an unfinished word may become,
// each with a word about it. It is nil when the line is no command.
func (t *Table) Complete(ctx context.Context, conv Conversation, line string) (word string, all []Choice) {
	rest, ok := strings.CutPrefix(line, "/")
	if !ok {
		return "", nil
	}
	name, arg, inArgs := strings.Cut(rest, " ")
	if !inArgs {
		low := strings.ToLower(name)
		for _, c := range t.all() {
			for _, n := range c.names() {
				if strings.HasPrefix(n, low) {
					all = append(all, Choice{"/" + n, c.About})
					break
				}
			}
		}
		return line, all
	}
	c, err := t.Find(name)
	if err != nil || c.Complete == nil {
		return arg, nil
	}
	for _, v := range c.Complete(ctx, &Call{Conv: conv, Args: arg, Table: t}) {
		if len(v.Text) >= len(arg) && strings.EqualFold(v.Text[:len(arg)], arg) {
			all = append(all, v)
		}
	}
	return arg, all
}

// Choice is one completion.
type Choice struct{ Text, About string }

// errNothing is for commands on a conversation that has not begun.
var errNothing = errors.New("nothing has been said yet")
