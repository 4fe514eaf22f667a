package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/secret"
)

func (w *Wizard) terminal(ctx context.Context) error {
	cfg, err := w.config()
	if err != nil {
		return err
	}
	kinds := backend.All()
	labels, start := make([]string, len(kinds)), 0
	for i, k := range kinds {
		labels[i] = k.Name + ": " + k.About
		if k.Name == cfg.String("terminal.backend") {
			start = i
		}
	}
	i, err := w.Ask.Choose(ctx, Question{Title: "Where do commands run?"}, labels, start)
	if err != nil {
		return err
	}
	k := kinds[i]
	for _, v := range k.Env {
		if v.Advanced {
			continue
		}
		if _, err := w.variable(ctx, v, nil); err != nil {
			return err
		}
	}
	dir, err := w.Ask.Line(ctx, Question{Title: "In which directory?", Note: ". is where hermes is started"}, cmp.Or(cfg.String("terminal.cwd"), "."))
	if err != nil {
		return err
	}
	limit, err := w.Ask.Line(ctx, Question{Title: "How many seconds may a command take?", Check: wholeNumber}, cfg.String("terminal.timeout"))
	if err != nil {
		return err
	}
	edits := changed(cfg, "terminal.backend", k.Name, "terminal.cwd", strings.TrimSpace(dir), "terminal.timeout", strings.TrimSpace(limit))
	if err := w.apply(edits...); err != nil {
		return err
	}
	w.say(fmt.Sprintf("✓ commands run on %s", k.Name))
	return nil
}

func wholeNumber(s string) error {
	if n, err := strconv.Atoi(strings.TrimSpace(s)); err != nil || n < 1 {
		return errors.New("a whole number above 0")
	}
	return nil
}

// changed makes edits of keys and values, those that say something new.
func changed(cfg *config.Config, pairs ...string) []config.Edit {
	var edits []config.Edit
	for i := 0; i+1 < len(pairs); i += 2 {
		if cfg.String(pairs[i]) != pairs[i+1] {
			edits = append(edits, config.Edit{Key: pairs[i], Value: pairs[i+1]})
		}
	}
	return edits
}

func (w *Wizard) agent(ctx context.Context) error {
	cfg, err := w.config()
	if err != nil {
		return err
	}
	turns, err := w.Ask.Line(ctx, Question{Title: "How many model calls may one message take?", Check: wholeNumber}, cfg.String("agent.max_turns"))
	if err != nil {
		return err
	}
	modes := []string{"manual", "smart", "off"}
	i, err := w.Ask.Choose(ctx, Question{Title: "Commands that may destroy something"}, []string{"manual: ask me", "smart: a model judges, and asks when in doubt", "off: run them"}, max(slices.Index(modes, cfg.String("approvals.mode")), 0))
	if err != nil {
		return err
	}
	efforts := []string{"", "low", "medium", "high"}
	j, err := w.Ask.Choose(ctx, Question{Title: "How much does the model think?"}, []string{"as the service has it", "low", "medium", "high"}, max(slices.Index(efforts, cfg.String("agent.reasoning_effort")), 0))
	if err != nil {
		return err
	}
	if err := w.apply(changed(cfg, "agent.max_turns", strings.TrimSpace(turns), "approvals.mode", modes[i], "agent.reasoning_effort", efforts[j])...); err != nil {
		return err
	}
	w.say("✓ the agent is set up")
	return nil
}

// toolVars are the variables that tools declare for a person to fill in.
func (w *Wizard) toolVars() []secret.Var {
	var out []secret.Var
	for _, v := range w.Vars {
		if !v.Advanced && (v.Category == secret.Tool || v.Category == secret.Skill) {
			out = append(out, v)
		}
	}
	return out
}

func (w *Wizard) tools(ctx context.Context) error {
	vars := w.toolVars()
	if len(vars) == 0 {
		w.say("No tool here needs a key.")
		return nil
	}
	for {
		options := []string{"Done"}
		for _, v := range vars {
			state := "not set"
			if w.Secrets.Has(v.Name) {
				state = "set"
			}
			text := fmt.Sprintf("%s (%s): %s", v.Name, state, v.About)
			if len(v.Tools) > 0 {
				text += ", enables " + strings.Join(v.Tools[:min(2, len(v.Tools))], ", ")
			}
			options = append(options, text)
		}
		i, err := w.Ask.Choose(ctx, Question{Title: "Keys of tools"}, options, 0)
		if err != nil || i == 0 {
			return err
		}
		if _, err := w.variable(ctx, vars[i-1], nil); err != nil {
			return err
		}
	}
}

// Guidance is what setup prints where nobody can be asked: the commands that
// do the same.
func Guidance(names []string) string {
	text := map[string]string{
		"model": `Choose a model:
  hermes config set OPENROUTER_API_KEY -        (the key on stdin)
  hermes model set anthropic/claude-sonnet-4.6 --provider openrouter
or a server of your own:
  hermes model set NAME --base-url http://127.0.0.1:11434/v1
`,
		"terminal": `Say where commands run:
  hermes config set terminal.backend local
  hermes config set terminal.cwd .
  hermes config set terminal.timeout 180
`,
		"agent": `Set up the agent:
  hermes config set agent.max_turns 90
  hermes config set approvals.mode manual
`,
		"tools": `Give tools the keys that hermes doctor names:
  hermes config set NAME -
`,
	}
	if len(names) == 0 {
		names = Sections()
	}
	var b strings.Builder
	for _, n := range names {
		b.WriteString(text[n])
	}
	b.WriteString("Check it:\n  hermes doctor\n")
	return b.String()
}
