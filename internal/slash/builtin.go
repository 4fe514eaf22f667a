package slash

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/store"
)

func builtin() []Command {
	return []Command{
		{Name: "help", Aliases: []string{"commands", "?"}, Args: "[command]", About: "list the commands", Busy: true, Run: help},
		{Name: "new", Aliases: []string{"reset"}, Args: "[title]", About: "begin a new conversation", Run: begin},
		{Name: "clear", About: "clear the screen and begin anew", Scope: Terminal, Run: clear},
		{Name: "resume", Args: "[id or title]", About: "go on with an earlier conversation; bare: list them", Run: resume, Complete: sessions},
		{Name: "title", Args: "[name]", About: "show or set the title", Run: title},
		{Name: "branch", Aliases: []string{"fork"}, Args: "[title]", About: "go on in a copy; the original stays as it is", Run: branch},
		{Name: "undo", Args: "[n]", About: "take back the last turn, or the last n", Run: undo},
		{Name: "redo", About: "bring back what /undo took", Run: redo},
		{Name: "retry", About: "take back the last answer and ask again", Run: retry},
		{Name: "rollback", Args: "[n [file] | diff n]", About: "bring the working tree back to before a change; bare: list", Slow: true, Run: rollback},
		{Name: "compress", Aliases: []string{"compact"}, Args: "[topic]", About: "sum up the older part to make room; a topic is kept in detail", Slow: true, Run: compress},
		{Name: "goal", Args: "[text|pause|resume|clear]", About: "work towards a goal, turn after turn, until a judge finds it reached", Run: goal},
		{Name: "model", Aliases: []string{"provider"}, Args: "[model] [--provider P] [--global]", About: "show or switch the model; --global keeps it", Slow: true, Run: model},
		{Name: "tools", Aliases: []string{"toolsets"}, About: "list the tools and why some are missing", Run: tools},
		{Name: "skills", Args: "[words]", About: "list the skills, or those that fit the words", Busy: true, Run: listSkills},
		{Name: "skill", Args: "name [text]", About: "load a skill and do what the text says", Run: runSkill, Complete: skillNames},
		{Name: "reload-skills", About: "look again at the skills on disk", Run: reloadSkills},
		{Name: "usage", About: "tokens, cache hits and the context", Run: usage},
		{Name: "history", Args: "[n]", About: "show the last n messages", Run: history},
		{Name: "save", About: "write the conversation to a JSON file", Run: save},
		{Name: "config", About: "show the settings in use", Busy: true, Run: settings},
		{Name: "queue", Aliases: []string{"q"}, Args: "text", About: "answer this after the running turn", Busy: true, Run: queue},
		{Name: "steer", Args: "text", About: "tell the running turn something", Busy: true, Run: steer},
		{Name: "busy", Args: "[interrupt|queue|steer]", About: "what typing does while the agent works", Scope: Terminal, Busy: true, Run: busy, Complete: words("interrupt", "queue", "steer")},
		{Name: "reasoning", Aliases: []string{"thinking"}, Args: "show|hide", About: "show the model's thinking, or not", Scope: Terminal, Busy: true, Run: reasoning, Complete: words("show", "hide")},
		{Name: "quit", Aliases: []string{"exit"}, About: "leave", Scope: Terminal, Busy: true, Run: func(context.Context, *Call) (Reply, error) { return Reply{Quit: true}, nil }},
	}
}

func words(list ...string) func(context.Context, *Call) []Choice {
	return func(context.Context, *Call) []Choice { return choices(list) }
}

func choices(list []string) []Choice {
	out := make([]Choice, len(list))
	for i, w := range list {
		out[i].Text = w
	}
	return out
}

func help(_ context.Context, c *Call) (Reply, error) {
	if c.Args != "" {
		cmd, err := c.Table.Find(c.Args)
		if err != nil {
			return Reply{}, err
		}
		text := fmt.Sprintf("`/%s`: %s", strings.TrimSpace(cmd.Name+" "+cmd.Args), cmd.About)
		if len(cmd.Aliases) > 0 {
			text += "; also /" + strings.Join(cmd.Aliases, ", /")
		}
		return Reply{Text: text}, nil
	}
	const wide = 30
	var b strings.Builder
	b.WriteString("```\n")
	for _, cmd := range c.Table.commands {
		fmt.Fprintf(&b, "%-*s  %s\n", wide, cmd.use(), cmd.About)
	}
	b.WriteString("```\n")
	if n := len(c.Table.skills()); n > 0 {
		fmt.Fprintf(&b, "%s are commands as well: `/skills` lists them.", count(n, "skill"))
	}
	return Reply{Text: b.String()}, nil
}

func (c *Command) use() string { return strings.TrimSpace("/" + c.Name + " " + c.Args) }

func begin(ctx context.Context, c *Call) (Reply, error) {
	old := c.Conv.State()
	had := len(c.Conv.Messages()) > 0
	if err := c.Conv.New(ctx, c.Args); err != nil {
		return Reply{}, err
	}
	text := "A new conversation."
	if had {
		text = fmt.Sprintf("A new conversation; the old one is kept: `/resume %s`", old.ID)
	}
	return Reply{Text: text, Change: true}, nil
}

func clear(ctx context.Context, c *Call) (Reply, error) {
	r, err := begin(ctx, c)
	r.Clear = err == nil
	return r, err
}

func resume(ctx context.Context, c *Call) (Reply, error) {
	if c.Args == "" {
		return listSessions(ctx, c)
	}
	id := c.Conv.State().ID
	if err := c.Conv.GoOn(ctx, c.Args); err != nil {
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
			err = fmt.Errorf("%w; a bare /resume lists them", err)
		}
		return Reply{}, err
	}
	s := c.Conv.State()
	if s.ID == id {
		return Reply{Text: "That is this conversation."}, nil
	}
	n := len(c.Conv.Messages())
	text := fmt.Sprintf("Going on with %s (%s).", s.ID, count(n, "message"))
	if n > 0 {
		text += "\n\n" + transcript(c.Conv.Messages(), 4)
	}
	return Reply{Text: text, Change: true}, nil
}

const mostListed = 10

func listSessions(ctx context.Context, c *Call) (Reply, error) {
	list, err := c.Conv.Recent(ctx, mostListed)
	if err != nil {
		return Reply{}, err
	}
	if len(list) == 0 {
		return Reply{Text: "There is no earlier conversation."}, nil
	}
	var b strings.Builder
	b.WriteString("```\n")
	for _, s := range list {
		name := s.Title
		if name == "" {
			name = s.Preview
		}
		fmt.Fprintf(&b, "%s  %s  %4d  %s\n", s.ID, s.LastActive.Local().Format("2006-01-02 15:04"), s.Messages, oneLine(name, 50))
	}
	b.WriteString("```\nGo on with one by `/resume ID` or `/resume TITLE`.")
	return Reply{Text: b.String()}, nil
}

func sessions(ctx context.Context, c *Call) []Choice {
	list, err := c.Conv.Recent(ctx, 50)
	if err != nil {
		return nil // a completion that cannot be made is no error
	}
	var out []string
	for _, s := range list {
		if s.Title != "" {
			out = append(out, s.Title)
		}
		out = append(out, s.ID)
	}
	return choices(out)
}

func title(ctx context.Context, c *Call) (Reply, error) {
	if c.Args == "" {
		t, err := c.Conv.Title(ctx)
		if err != nil {
			return Reply{}, err
		}
		if t == "" {
			t = "none yet; `/title NAME` gives one"
		}
		return Reply{Text: "Title: " + t}, nil
	}
	if err := c.Conv.SetTitle(ctx, c.Args); err != nil {
		return Reply{}, err
	}
	t, err := c.Conv.Title(ctx)
	return Reply{Text: "Title: " + t}, err
}

func branch(ctx context.Context, c *Call) (Reply, error) {
	if len(c.Conv.Messages()) == 0 {
		return Reply{}, errNothing
	}
	from, err := c.Conv.Branch(ctx, c.Args)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Text: fmt.Sprintf("This is a copy now, %s. The original is kept: `/resume %s`", c.Conv.State().ID, from), Change: true}, nil
}

func undo(ctx context.Context, c *Call) (Reply, error) {
	n := 1
	if c.Args != "" {
		var err error
		if n, err = strconv.Atoi(c.Args); err != nil || n < 1 {
			return Reply{}, fmt.Errorf("/undo takes a number of turns, not %q", c.Args)
		}
	}
	gone, err := c.Conv.Undo(ctx, n)
	if err != nil {
		return Reply{}, err
	}
	if len(gone) == 0 {
		return Reply{}, errNothing
	}
	text := fmt.Sprintf("Took back %s, from “%s” on.", count(len(gone), "message"), oneLine(gone[0].Content.String(), 60))
	if calls := done(gone); calls > 0 {
		text += fmt.Sprintf(" What %s did outside of the conversation stays done.", count(calls, "tool call"))
	}
	return Reply{Text: text + " `/redo` brings it back.", Change: true}, nil
}

func done(m []chat.Message) int {
	n := 0
	for i := range m {
		n += len(m[i].ToolCalls)
	}
	return n
}

func redo(ctx context.Context, c *Call) (Reply, error) {
	back, err := c.Conv.Redo(ctx)
	if err != nil {
		return Reply{}, err
	}
	if len(back) == 0 {
		return Reply{}, errors.New("there is nothing to bring back: nothing was undone, or something was said since")
	}
	return Reply{Text: fmt.Sprintf("%s are back, from “%s” on.", count(len(back), "message"), oneLine(back[0].Content.String(), 60)), Change: true}, nil
}

// mostDiff is how many lines of a diff are shown in a conversation.
const mostDiff = 80

func rollback(ctx context.Context, c *Call) (Reply, error) {
	words := strings.Fields(c.Args)
	switch {
	case len(words) == 0:
		list, err := c.Conv.Checkpoints(ctx)
		return Reply{Text: fenced(list) + "Go back with `/rollback N`, see what that would change with `/rollback diff N`."}, err
	case words[0] == "diff":
		if len(words) != 2 {
			return Reply{}, errors.New("/rollback diff takes a number of the list: /rollback diff N")
		}
		diff, err := c.Conv.CheckpointDiff(ctx, words[1])
		if err != nil {
			return Reply{}, err
		}
		if diff == "" {
			return Reply{Text: "Nothing has changed since."}, nil
		}
		lines := strings.SplitAfter(diff, "\n")
		more := ""
		if n := len(lines) - mostDiff; n > 1 {
			lines, more = lines[:mostDiff], fmt.Sprintf("%d more lines: `hermes rollback %s --diff`", n-1, words[1])
		}
		return Reply{Text: fenced(strings.Join(lines, "")) + more}, nil
	}
	file := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(c.Args), words[0]))
	report, err := c.Conv.Rollback(ctx, words[0], file)
	if err != nil {
		return Reply{}, err
	}
	text := fenced(report)
	if file != "" || len(c.Conv.Messages()) == 0 {
		return Reply{Text: text}, nil
	}
	gone, err := c.Conv.Undo(ctx, 1)
	if err != nil {
		return Reply{}, fmt.Errorf("the files are back, but the conversation could not be taken back: %w\n%s", err, report)
	}
	if len(gone) > 0 {
		text += "The last turn of the conversation is taken back too; /redo brings it back."
	}
	return Reply{Text: text, Change: true}, nil
}

func fenced(text string) string { return "```\n" + strings.TrimRight(text, "\n") + "\n```\n" }

func retry(ctx context.Context, c *Call) (Reply, error) {
	said := ""
	for _, m := range c.Conv.Messages() {
		if m.Role == chat.User {
			said = m.Content.String()
			if m.Content.Parts != nil {
				said = ""
			}
		}
	}
	if said == "" {
		return Reply{}, errors.New("there is no message of yours to send again")
	}
	gone, err := c.Conv.Undo(ctx, 1)
	if err != nil {
		return Reply{}, err
	}
	text := fmt.Sprintf("Asking again: “%s”", oneLine(said, 60))
	if calls := done(gone); calls > 0 {
		text += fmt.Sprintf(" What %s did stays done.", count(calls, "tool call"))
	}
	return Reply{Text: text, Send: said, Change: true}, nil
}

func compress(ctx context.Context, c *Call) (Reply, error) {
	const least = 4
	if n := len(c.Conv.Messages()); n < least {
		return Reply{}, fmt.Errorf("there is nothing to sum up yet: the conversation has %s", count(n, "message"))
	}
	old := c.Conv.State().ID
	before, after, err := c.Conv.Compress(ctx, c.Args)
	if err != nil {
		return Reply{}, fmt.Errorf("not compressed, and nothing is lost: %w", err)
	}
	text := fmt.Sprintf("Of %s the newest are kept, the rest is summed up: %s now.", count(before, "message"), count(after, "message"))
	if id := c.Conv.State().ID; id != old {
		text += fmt.Sprintf(" It goes on as %s; all that was said stays in %s, where search finds it.", id, old)
	}
	return Reply{Text: text, Change: true}, nil
}

func model(ctx context.Context, c *Call) (Reply, error) {
	var name, service string
	always := false
	fields := strings.Fields(c.Args)
	for i := 0; i < len(fields); i++ {
		// Phones turn two hyphens into a dash.
		switch f := strings.NewReplacer("—", "--", "–", "--").Replace(fields[i]); {
		case f == "--global":
			always = true
		case f == "--provider" && i+1 < len(fields):
			i++
			service = fields[i]
		case strings.HasPrefix(f, "--provider="):
			service = strings.TrimPrefix(f, "--provider=")
		case strings.HasPrefix(f, "--"):
			return Reply{}, fmt.Errorf("/model does not know %s; it takes a model, --provider NAME and --global", f)
		case name != "":
			return Reply{}, fmt.Errorf("/model takes one model, not both %s and %s", name, f)
		default:
			name = f
		}
	}
	if name == "" && service == "" {
		s := c.Conv.State()
		return Reply{Text: fmt.Sprintf("`%s` on %s, %s. Another one: `/model NAME`, `/model --provider SERVICE`; `--global` keeps it for later.", s.Model, s.Service, window(s.Window))}, nil
	}
	sw, err := c.Conv.SwitchModel(ctx, name, service, always)
	if err != nil {
		return Reply{}, err
	}
	text := fmt.Sprintf("Now `%s` on %s, %s; the conversation so far is kept.", sw.To.Model, sw.To.Service, window(sw.To.Window))
	if sw.To.Window > 0 && sw.From.Window > sw.To.Window {
		text += fmt.Sprintf("\n\n**The context window shrinks** from %s to %s tokens.", thousands(sw.From.Window), thousands(sw.To.Window))
		if sw.From.Used > sw.To.Window {
			text += fmt.Sprintf(" The conversation has about %s and does not fit: begin a new one, or take a larger model.", thousands(sw.From.Used))
		}
	}
	if sw.Note != "" {
		text += "\n\n" + sw.Note
	}
	return Reply{Text: text, Change: true}, nil
}

func window(n int) string {
	if n == 0 {
		return "a context window of unknown size"
	}
	return "a window of " + thousands(n) + " tokens"
}

func tools(ctx context.Context, c *Call) (Reply, error) {
	list, err := c.Conv.Tools(ctx)
	if err != nil {
		return Reply{}, err
	}
	var b strings.Builder
	b.WriteString("```\n")
	offered := 0
	for _, t := range list {
		mark, why := "✓", ""
		if t.Offered {
			offered++
		} else {
			mark, why = "–", "  "+oneLine(t.Why, 60)
		}
		fmt.Fprintf(&b, "%s %-20s %-12s%s\n", mark, t.Name, t.Toolset, why)
	}
	fmt.Fprintf(&b, "```\n%d of %d are offered.", offered, len(list))
	return Reply{Text: b.String()}, nil
}

func usage(ctx context.Context, c *Call) (Reply, error) {
	s, err := c.Conv.Stored(ctx)
	if err != nil {
		return Reply{}, err
	}
	if s.ID == "" || s.Usage.Calls == 0 {
		return Reply{}, errNothing
	}
	u, st := s.Usage, c.Conv.State()
	var b strings.Builder
	b.WriteString("```\n")
	row := func(name, value string) { fmt.Fprintf(&b, "%-12s %s\n", name, value) }
	row("model", st.Model+" on "+st.Service)
	row("messages", strconv.Itoa(len(c.Conv.Messages())))
	row("model calls", strconv.Itoa(u.Calls))
	row("sent", thousands(u.Prompt())+" tokens")
	if p := u.Prompt(); p > 0 {
		row("  cached", fmt.Sprintf("%s tokens, %.0f %% of what was sent", thousands(u.CacheRead), 100*float64(u.CacheRead)/float64(p)))
	}
	if u.CacheWrite > 0 {
		row("  to cache", thousands(u.CacheWrite)+" tokens")
	}
	row("received", thousands(u.Output)+" tokens")
	if u.Reasoning > 0 {
		row("  thinking", thousands(u.Reasoning)+" tokens")
	}
	switch {
	case st.Used > 0 && st.Window > 0:
		row("context", fmt.Sprintf("%s of %s tokens, %.0f %%", thousands(st.Used), thousands(st.Window), 100*float64(st.Used)/float64(st.Window)))
	case st.Used > 0:
		row("context", thousands(st.Used)+" tokens; the window is unknown")
	}
	switch {
	case s.Cost.Actual != nil:
		row("cost", fmt.Sprintf("$%.4f", *s.Cost.Actual))
	case s.Cost.Estimated != nil:
		row("cost", fmt.Sprintf("about $%.4f", *s.Cost.Estimated))
	default:
		row("cost", "unknown")
	}
	caps, err := c.Conv.Caps(ctx)
	if err != nil {
		return Reply{}, err
	}
	for _, line := range caps {
		b.WriteString(line + "\n")
	}
	b.WriteString("```")
	return Reply{Text: b.String()}, nil
}

func history(_ context.Context, c *Call) (Reply, error) {
	n := 20
	if c.Args != "" {
		var err error
		if n, err = strconv.Atoi(c.Args); err != nil || n < 1 {
			return Reply{}, fmt.Errorf("/history takes a number of messages, not %q", c.Args)
		}
	}
	m := c.Conv.Messages()
	if len(m) == 0 {
		return Reply{}, errNothing
	}
	text := transcript(m, n)
	if left := len(m) - n; left > 0 {
		text = fmt.Sprintf("… %s before; `/history %d` shows all\n", count(left, "message"), len(m)) + text
	}
	return Reply{Text: text}, nil
}

// transcript shows the last n messages, a line each.
func transcript(m []chat.Message, n int) string {
	var b strings.Builder
	b.WriteString("```\n")
	first := max(len(m)-n, 0)
	for i := range m[first:] {
		at := first + i
		who := map[chat.Role]string{chat.User: "you", chat.Assistant: "agent", chat.Tool: "tool"}[m[at].Role]
		if who == "" {
			who = string(m[at].Role)
		}
		text := m[at].Content.String()
		if m[at].Role == chat.Tool {
			text = m[at].Name + ": " + text
		}
		for _, call := range m[at].ToolCalls {
			text = strings.TrimSpace(text + " → " + call.Function.Name)
		}
		fmt.Fprintf(&b, "%3d %-5s  %s\n", at+1, who, oneLine(text, 400))
	}
	b.WriteString("```")
	return b.String()
}

func save(ctx context.Context, c *Call) (Reply, error) {
	if len(c.Conv.Messages()) == 0 {
		return Reply{}, errNothing
	}
	path, err := c.Conv.Save(ctx)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Text: fmt.Sprintf("Wrote %s to `%s`", count(len(c.Conv.Messages()), "message"), path)}, nil
}

func settings(_ context.Context, c *Call) (Reply, error) {
	rows := c.Conv.Settings()
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0]))
	}
	var b strings.Builder
	b.WriteString("```\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %s\n", wide, r[0], r[1])
	}
	b.WriteString("```\nChange one with `hermes config set KEY VALUE`; it counts from the next start on.")
	return Reply{Text: b.String()}, nil
}

func queue(_ context.Context, c *Call) (Reply, error) {
	if c.Args == "" {
		return Reply{}, errors.New("/queue needs the message")
	}
	return Reply{Queue: c.Args}, nil
}

func steer(_ context.Context, c *Call) (Reply, error) {
	if c.Args == "" {
		return Reply{}, errors.New("/steer needs the remark")
	}
	return Reply{Steer: c.Args}, nil
}

func busy(_ context.Context, c *Call) (Reply, error) {
	switch c.Args {
	case "interrupt", "queue", "steer":
		return Reply{Busy: c.Args}, nil
	}
	return Reply{}, errors.New("/busy takes interrupt (stop and answer this), queue (answer it afterwards) or steer (tell the running turn)")
}

func reasoning(_ context.Context, c *Call) (Reply, error) {
	on := c.Args == "show" || c.Args == "on"
	if !on && c.Args != "hide" && c.Args != "off" {
		return Reply{}, errors.New("/reasoning takes show or hide")
	}
	text := "The model's thinking is hidden."
	if on {
		text = "The model's thinking is shown, where the service sends it."
	}
	return Reply{Text: text, Think: &on}, nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// oneLine joins text into one line of at most n characters.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
