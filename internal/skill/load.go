package skill

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/internal/injection"
)

// Loaded is a skill ready to be followed.
type Loaded struct {
	*Skill
	Doc      Doc
	Content  string // the whole SKILL.md, with tokens filled in
	Raw      []byte // as it stands on disk
	Needs    Needs
	Seen     string // the directory as commands see it
	Warnings []string
	Skipped  bool // a person was asked for what is missing and did not give it
}

// Load reads a skill for a session; id may be "".
func (l *Library) Load(ctx context.Context, s *Skill, session string) (*Loaded, error) {
	if s.closed {
		return nil, fmt.Errorf("skill %s: %s", s.Name, s.Reason)
	}
	data, err := os.ReadFile(s.Path)
	if err != nil {
		return nil, fmt.Errorf("read skill %s: %w", s.Name, err)
	}
	out := &Loaded{Skill: s, Doc: Parse(data), Raw: data, Seen: s.Dir}
	if l.Options.Seen != nil {
		dir, ok := l.Options.Seen(s)
		if out.Seen = dir; !ok {
			out.Seen = s.Dir
			out.Warnings = append(out.Warnings, "commands run where the files of this skill are not: read them with skill_view and write what you need there")
		}
	}
	out.Needs = l.needs(&out.Doc)
	out.Content = l.render(ctx, s, out.Seen, strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\uFFFD"), session)
	out.Doc.Scalar("name") // so that Said has what is odd about it
	out.Warnings = append(out.Warnings, out.Doc.Said()...)
	if s.State == Broken {
		out.Warnings = append(out.Warnings, "broken front matter: "+s.Reason)
	}
	for line := range strings.Lines(out.Doc.Body) {
		if injection.Line(line) != nil {
			out.Warnings = append(out.Warnings, "possible_prompt_injection")
			break
		}
	}
	return out, nil
}

// Sum stands for the text as it was read.
func (l *Loaded) Sum() [sha256.Size]byte { return sha256.Sum256(l.Raw) }

// render fills in the tokens, and what commands print where those are allowed
// to run.
func (l *Library) render(ctx context.Context, s *Skill, seen, text, session string) string {
	fill := func(t string) string {
		if l.NoTemplates {
			return t
		}
		t = strings.ReplaceAll(t, "${HERMES_SKILL_DIR}", seen)
		if session != "" {
			t = strings.ReplaceAll(t, "${HERMES_SESSION_ID}", session)
		}
		return t
	}
	if !l.InlineShell || s.Root.Source == Project || !strings.Contains(text, "!`") {
		return fill(text)
	}
	return l.shell(ctx, s, text, session, fill)
}

// Message is what a conversation is told when a person calls for a skill:
// the text, where it lies, its settings, what is missing, its files, and what
// the person wants of it.
func (l *Loaded) Message(instruction string) string {
	return l.message(fmt.Sprintf("[IMPORTANT: the user invoked the skill %q; follow its instructions. Its full content stands below.]", l.Name), instruction)
}

// Preloaded is what the system prompt says of a skill that was loaded for the
// whole session.
func (l *Loaded) Preloaded() string {
	return l.message(fmt.Sprintf("[IMPORTANT: the user loaded the skill %q for this whole session; follow its instructions. Its full content stands below.]", l.Name), "")
}

func (l *Loaded) message(begin, instruction string) string {
	parts := []string{
		begin, strings.TrimSpace(l.Content),
		fmt.Sprintf("[Skill directory: %s]\nResolve relative paths in the skill against this directory, and run its scripts by their absolute paths.", l.Seen),
	}
	for _, block := range []string{l.Needs.ConfigBlock(), note(l.setupNote()), l.supporting()} {
		if block != "" {
			parts = append(parts, block)
		}
	}
	if instruction = strings.TrimSpace(instruction); instruction != "" {
		parts = append(parts, "The user's instruction with the skill: "+instruction)
	}
	return strings.Join(parts, "\n\n")
}

// setupNote says what is missing, and whether the person knows.
func (l *Loaded) setupNote() string {
	s := l.Needs.Note()
	if s != "" && l.Skipped {
		s += " The user was asked for it and skipped; go on without, as far as the skill allows."
	}
	return s
}

func note(s string) string {
	if s == "" {
		return ""
	}
	return "[Skill setup note: " + s + "]"
}

func (l *Loaded) supporting() string {
	groups, _ := l.Files()
	var all []string
	for _, g := range groups {
		all = append(all, g...)
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	var b strings.Builder
	b.WriteString("[This skill has supporting files:]\n")
	for _, rel := range all {
		fmt.Fprintf(&b, "- %s  ->  %s\n", rel, path.Join(filepath.ToSlash(l.Seen), rel))
	}
	fmt.Fprintf(&b, "Read one with skill_view(name=%q, file_path=\"<path>\").", l.Rel)
	return b.String()
}
