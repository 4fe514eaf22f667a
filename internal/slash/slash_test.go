package slash

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/store"
)

// fake is a conversation that notes what was done to it.
type fake struct {
	did      []string
	state    State
	messages []chat.Message
	title    string
	goal     Goal
	row      store.Session
	to       State
}

func (f *fake) note(what ...string)                           { f.did = append(f.did, strings.Join(what, " ")) }
func (f *fake) Key() string                                   { return f.state.ID }
func (f *fake) State() State                                  { return f.state }
func (f *fake) Title(context.Context) (string, error)         { return f.title, nil }
func (f *fake) SetTitle(_ context.Context, t string) error    { f.title = t; return nil }
func (f *fake) Messages() []chat.Message                      { return f.messages }
func (f *fake) Stored(context.Context) (store.Session, error) { return f.row, nil }
func (f *fake) New(_ context.Context, title string) error {
	f.note("new", title)
	f.messages = nil
	return nil
}
func (f *fake) Redo(context.Context) ([]chat.Message, error) { return nil, nil }
func (f *fake) Tools(context.Context) ([]Tool, error) {
	return []Tool{{"terminal", "terminal", true, ""}, {"x", "y", false, "no KEY"}}, nil
}

func (f *fake) Settings() [][2]string              { return [][2]string{{"home", "/h"}} }
func (f *fake) Goal(context.Context) (Goal, error) { return f.goal, nil }
func (f *fake) SetGoal(_ context.Context, g Goal) error {
	if g.MaxTurns == 0 {
		g.MaxTurns = 20
	}
	f.goal = g
	return nil
}

func (f *fake) Caps(context.Context) ([]string, error) {
	return []string{"caps.day.usd: $1.0000 of $5.0000"}, nil
}

func (f *fake) Save(context.Context) (string, error) { return "/h/sessions/saved/x.json", nil }

func (f *fake) Checkpoints(context.Context) (string, error) {
	return "  1  abcdef01  before patch\n", nil
}

func (f *fake) CheckpointDiff(_ context.Context, ref string) (string, error) {
	return strings.Repeat("+line\n", 100) + ref, nil
}

func (f *fake) Rollback(_ context.Context, ref, file string) (string, error) {
	if ref == "9" {
		return "", errors.New("there is no checkpoint 9")
	}
	f.note("rollback", ref, file)
	return "1 restored\n", nil
}

func (f *fake) Skill(_ context.Context, name, text string) (string, error) {
	if name == "gone" {
		return "", errors.New("there is no skill gone")
	}
	return "<" + name + "> " + text, nil
}

func (f *fake) ReloadSkills(context.Context) (Reloaded, error) {
	return Reloaded{Added: []Skill{{Name: "new", About: "n"}}, Removed: []Skill{{Name: "old"}}, Total: 3}, nil
}

func (f *fake) Branch(_ context.Context, t string) (string, error) {
	f.note("branch", t)
	return "old", nil
}

func (f *fake) GoOn(_ context.Context, ref string) error {
	if ref != "known" {
		return store.ErrNotFound
	}
	f.state.ID = ref
	return nil
}

func (f *fake) Recent(context.Context, int) ([]store.Summary, error) {
	return []store.Summary{{ID: "20260101_000000_abcdef", Title: "Fix the build"}, {ID: "20260102_000000_abcdef", Preview: "hello"}}, nil
}

func (f *fake) Undo(_ context.Context, n int) ([]chat.Message, error) {
	at := len(f.messages)
	for at > 0 && n > 0 {
		at--
		if f.messages[at].Role == chat.User {
			n--
		}
	}
	gone := f.messages[at:]
	f.messages = f.messages[:at]
	return gone, nil
}

func (f *fake) Compress(_ context.Context, topic string) (int, int, error) {
	f.note("compress", topic)
	return len(f.messages), 2, nil
}

func (f *fake) SwitchModel(_ context.Context, model, service string, always bool) (Switch, error) {
	f.note("model", model, service)
	if always {
		f.note("always")
	}
	if model == "nosuch" {
		return Switch{}, errors.New("no such model")
	}
	return Switch{From: f.state, To: f.to}, nil
}

func talked() *fake {
	call := chat.AssistantText("")
	call.ToolCalls = []chat.ToolCall{{ID: "1", Function: chat.FunctionCall{Name: "terminal", Arguments: "{}"}}}
	return &fake{
		state: State{ID: "me", Model: "big", Service: "s", Window: 200_000, Used: 150_000}, to: State{Model: "small", Service: "s", Window: 100_000},
		messages: []chat.Message{chat.UserText("one"), chat.AssistantText("1"), chat.UserText("two\nlines"), call, {Role: chat.Tool, Name: "terminal", ToolCallID: "1", Content: chat.Text("{}")}, chat.AssistantText("2")},
		row:      store.Session{ID: "me", Usage: chat.Usage{Calls: 3, Input: 500, CacheRead: 1500, Output: 70}},
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, name, args string
		ok               bool
	}{
		{"/undo", "undo", "", true},
		{" /title  My chat ", "title", "My chat", true},
		{"/steer one\ntwo", "steer", "one\ntwo", true},
		{"/?", "?", "", true},
		{"/set_home x", "set_home", "x", true},
		{"hello", "", "", false},
		{"/etc/hosts is wrong", "", "", false},
		{"/", "", "", false},
		{"// a comment", "", "", false},
		{"/日本", "", "", false},
	} {
		if name, args, ok := Parse(c.line); name != c.name || args != c.args || ok != c.ok {
			t.Errorf("%q: got %q, %q, %t", c.line, name, args, ok)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	table := New(Terminal, Command{Name: "zip-review", About: "of a file"})
	for name, want := range map[string]string{
		"undo": "undo", "UNDO": "undo", "exit": "quit", "fork": "branch", "und": "undo", "ti": "title", "q": "queue", "qui": "quit",
		"zip_review": "zip-review", "zip": "zip-review", "provider": "model",
	} {
		if c, err := table.Find(name); err != nil || c.Name != want {
			t.Errorf("%s: got %v, %v", name, c, err)
		}
	}
	for name, want := range map[string]string{
		"re":     "/re begins several commands: /new, /resume, /redo, /retry, /reload-skills, /reasoning",
		"titel":  "there is no command /titel; did you mean /title?",
		"hlep":   "there is no command /hlep; did you mean /help?",
		"zzzzzz": "there is no command /zzzzzz; /help lists all",
	} {
		if _, err := table.Find(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := New(Everywhere).Find("clear"); err == nil {
		t.Error("a chat service can clear a screen")
	}
}

// TestTable: names are there once, and every command says what it does.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range New(Terminal).Commands() {
		if c.About == "" || c.Run == nil {
			t.Errorf("/%s lacks something", c.Name)
		}
		for _, n := range c.names() {
			if seen[n] || n != strings.ToLower(n) {
				t.Errorf("/%s is taken", n)
			}
			seen[n] = true
		}
	}
	for n := range strings.FieldsSeq("help new clear resume title branch undo retry model tools usage history save config quit") {
		if !seen[n] {
			t.Errorf("/%s is missing", n)
		}
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string // in the text
		err  string
	}{
		{"/help", []string{"/undo [n]", "/model [model]"}, ""},
		{"/help fork", []string{"`/branch [title]`", "also /fork"}, ""},
		{"/help nosuchthing", nil, "no command /nosuchthing"},
		{"/new Other", []string{"the old one is kept: `/resume me`"}, ""},
		{"/resume", []string{"Fix the build", "hello"}, ""},
		{"/resume known", []string{"Going on with known"}, ""},
		{"/resume lost", nil, "a bare /resume lists them"},
		{"/title", []string{"none yet"}, ""},
		{"/title A name", []string{"Title: A name"}, ""},
		{"/branch side", []string{"The original is kept: `/resume old`"}, ""},
		{"/undo", []string{"Took back 4 messages, from “two lines” on.", "1 tool call did outside of the conversation stays done"}, ""},
		{"/undo 2", []string{"Took back 6 messages, from “one” on."}, ""},
		{"/undo x", nil, "takes a number"},
		{"/rollback", []string{"abcdef01", "/rollback diff N"}, ""},
		{"/rollback diff 1", []string{"+line", "20 more lines: `hermes rollback 1 --diff`"}, ""},
		{"/rollback diff", nil, "takes a number"},
		{"/rollback 1", []string{"1 restored", "taken back too"}, ""},
		{"/rollback 1 a file.txt", []string{"1 restored"}, ""},
		{"/rollback 9", nil, "no checkpoint 9"},
		{"/redo", nil, "nothing to bring back"},
		{"/model", []string{"`big` on s, a window of 200,000 tokens"}, ""},
		{"/model small", []string{"Now `small`", "**The context window shrinks** from 200,000 to 100,000", "150,000 and does not fit"}, ""},
		{"/model a b", nil, "takes one model"},
		{"/model --wrong", nil, "does not know --wrong"},
		{"/model nosuch", nil, "no such model"},
		{"/tools", []string{"✓ terminal", "– x", "no KEY", "1 of 2 are offered"}, ""},
		{"/usage", []string{"2,000 tokens", "1,500 tokens, 75 % of what was sent", "150,000 of 200,000 tokens, 75 %", "cost         unknown", "caps.day.usd: $1.0000 of $5.0000"}, ""},
		{"/history", []string{"1 you    one", "→ terminal", "5 tool   terminal: {}"}, ""},
		{"/history 2", []string{"… 4 messages before"}, ""},
		{"/save", []string{"/h/sessions/saved/x.json"}, ""},
		{"/config", []string{"home  /h"}, ""},
		{"/queue", nil, "needs the message"},
		{"/compress the database", []string{"Of 6 messages", "2 messages now"}, ""},
		{"/busy never", nil, "takes interrupt"},
		{"/reasoning", nil, "takes show or hide"},
	} {
		name, args, _ := Parse(c.line)
		r, err := New(Terminal).Run(t.Context(), talked(), name, args)
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.line, err, c.err)
		}
		for _, want := range c.want {
			if !strings.Contains(r.Text, want) {
				t.Errorf("%s: %q is not in %q", c.line, want, r.Text)
			}
		}
	}
	for _, line := range []string{"/undo", "/branch", "/usage", "/history", "/save", "/compress"} {
		if _, err := New(Terminal).Run(t.Context(), &fake{}, line[1:], ""); err == nil {
			t.Errorf("%s on an empty conversation says nothing", line)
		}
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	f := talked()
	if r, err := New(Terminal).Run(t.Context(), f, "retry", ""); err != nil || r.Send != "two\nlines" || len(f.messages) != 2 {
		t.Errorf("/retry: %+v, %v; %d messages are left", r, err, len(f.messages))
	}
	f = talked()
	if _, err := New(Terminal).Run(t.Context(), f, "model", "—provider p x —global"); err != nil || !slices.Equal(f.did, []string{"model x p", "always"}) {
		t.Errorf("/model: %v, %v", f.did, err)
	}
	for line, ok := range map[string]func(Reply) bool{
		"quit": func(r Reply) bool { return r.Quit }, "clear": func(r Reply) bool { return r.Clear && r.Change },
		"queue x": func(r Reply) bool { return r.Queue == "x" }, "steer x": func(r Reply) bool { return r.Steer == "x" },
		"busy queue": func(r Reply) bool { return r.Busy == "queue" }, "reasoning show": func(r Reply) bool { return r.Think != nil && *r.Think },
	} {
		name, args, _ := strings.Cut(line, " ")
		if r, err := New(Terminal).Run(t.Context(), talked(), name, args); err != nil || !ok(r) {
			t.Errorf("/%s: %+v, %v", line, r, err)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"/u":            {"/undo", "/usage"},
		"/fo":           {"/fork"},
		"/resume fix":   {"Fix the build"},
		"/resume 2026":  {"20260101_000000_abcdef", "20260102_000000_abcdef"},
		"/busy ":        {"interrupt", "queue", "steer"},
		"/undo 1":       nil,
		"/nosuch thing": nil,
		"hello":         nil,
	} {
		_, all := New(Terminal).Complete(t.Context(), talked(), line)
		var got []string
		for _, c := range all {
			got = append(got, c.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// TestSkills: skills are commands behind all others (F-073).
func TestSkills(t *testing.T) {
	t.Parallel()
	table := New(Terminal)
	table.Skills = func() []Skill {
		return []Skill{{"arxiv", "arxiv", "papers"}, {"Big One", "big-one", "two words"}, {"model", "", "has the name of a command"}, {"gone", "gone", ""}, {"undoing", "undoing", ""}}
	}
	for _, c := range []struct{ name, args, send, text string }{
		{"arxiv", "find X", "<arxiv> find X", ""},
		{"ARXIV", "", "<arxiv> ", ""},
		{"big_one", "go", "<Big One> go", ""}, // as a menu without hyphens has it
		{"arx", "y", "<arxiv> y", ""},
		{"skill", "model do it", "<model> do it", ""},
		{"skill", "Big One do it", "<Big One> do it", ""},
		{"model", "", "", "`big` on s"},
		{"und", "1", "", "Took back"}, // a beginning is a command before it is a skill
		{"skills", "", "", "/skill model"},
		{"skills", "pap", "", "1 skill."},
		{"skills", "zzz", "", "None of 5 skills"},
		{"reload-skills", "", "", "+ new  n"},
		{"help", "", "", "5 skills are commands"},
	} {
		r, err := table.Run(t.Context(), talked(), c.name, c.args)
		if err != nil || r.Send != c.send || !strings.Contains(r.Text, c.text) {
			t.Errorf("/%s %s: %+v, %v", c.name, c.args, r, err)
		}
	}
	for _, name := range []string{"gone", "skill"} {
		if _, err := table.Run(t.Context(), talked(), name, ""); err == nil {
			t.Errorf("/%s worked", name)
		}
	}
	if _, all := table.Complete(t.Context(), talked(), "/ar"); len(all) != 1 || all[0] != (Choice{"/arxiv", "papers"}) {
		t.Errorf("completed to %v", all)
	}
	if _, all := table.Complete(t.Context(), talked(), "/skill mo"); len(all) != 1 || all[0].Text != "model" {
		t.Errorf("completed to %v", all)
	}
	if !table.Reserved("reset") || table.Reserved("arxiv") {
		t.Error("reserved")
	}
}

// /goal sets, shows, pauses, resumes and clears.
func TestGoal(t *testing.T) {
	t.Parallel()
	f := talked()
	table := New(Terminal)
	run := func(args string) (Reply, error) {
		t.Helper()
		return table.Run(t.Context(), f, "goal", args)
	}
	for _, args := range []string{"pause", "resume", "clear"} {
		if _, err := run(args); err == nil {
			t.Errorf("/goal %s without a goal", args)
		}
	}
	if r, err := run("write it"); err != nil || r.Send != "write it" || f.goal.Status != GoalActive {
		t.Errorf("%+v, %v", r, err)
	}
	f.goal.LastReason, f.goal.TurnsUsed = "a chapter", 3
	if r, err := run(""); err != nil || !strings.Contains(r.Text, "Goal (active, turn 3 of 20): write it") || r.Send != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := run("pause"); err != nil || f.goal.Status != GoalPaused {
		t.Errorf("%+v, %v", f.goal, err)
	}
	if r, err := run("resume"); err != nil || f.goal.Status != GoalActive || f.goal.TurnsUsed != 0 || !strings.Contains(r.Send, "What is missing: a chapter") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := run("clear"); err != nil || f.goal.Status != GoalCleared {
		t.Errorf("%+v, %v", f.goal, err)
	}
}
