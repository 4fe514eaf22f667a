package skill

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

//go:embed index.md
var guidance string

const closing = "Go on without a skill only when none of them fits."

// DefaultBudget bounds the index, in bytes: about two thousand tokens.
const DefaultBudget = 8_000

// IndexOptions say for whom the index is.
type IndexOptions struct {
	Tools, Toolsets []string // of the session; nil: unknown, everything is shown
	Off             func(*Skill) bool
	First           func(*Skill) bool // keep their line when room is short
	Budget          int               // bytes; 0: DefaultBudget
}

// recent is for how long a skill that was used counts as one that is used.
const recent = 30 * 24 * time.Hour

// First says which skills are pinned or were used of late. It is a set and no
// ranking, so that the index, and what providers cache of it, stays the same
// from one session to the next.
func (l *Library) First() func(*Skill) bool {
	usages, since := l.Usages(), l.Now().Add(-recent)
	return func(s *Skill) bool {
		u, ok := usages[s.Name]
		return ok && (u.Pinned || u.LastUsed.After(since))
	}
}

// Shown lists the skills that the index of such a session offers, by category
// and name. What `skills list` calls enabled and what a prompt shows is one set.
func (l *Listing) Shown(o IndexOptions) []*Skill {
	var out []*Skill
	for _, s := range l.Skills {
		if (s.State == OK || s.State == Broken) && (o.Off == nil || !o.Off(s)) && s.When.Hidden(o.Tools, o.Toolsets) == "" {
			out = append(out, s)
		}
	}
	return out
}

// Index is the block of the system prompt that names the skills; "" without
// any. It is as full as the budget allows: a line for each skill, or only
// names, or only how many each category holds.
func (l *Listing) Index(o IndexOptions) string {
	shown := l.Shown(o)
	if len(shown) == 0 {
		return ""
	}
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	if o.First == nil {
		o.First = func(*Skill) bool { return false }
	}
	now := &madeIndex{shown: shown, budget: o.Budget}
	for _, s := range shown {
		if o.First(s) {
			now.first = append(now.first, s)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !now.same(l.made) {
		now.text = l.index(shown, o)
		l.made = now
	}
	return l.made.text
}

// madeIndex is an index with all that it depends on: many sessions have the
// same one.
type madeIndex struct {
	shown, first []*Skill
	budget       int
	text         string
}

func (m *madeIndex) same(as *madeIndex) bool {
	return as != nil && m.budget == as.budget && slices.Equal(m.shown, as.shown) && slices.Equal(m.first, as.first)
}

func (l *Listing) index(shown []*Skill, o IndexOptions) string {
	groups := map[string][]*Skill{}
	var categories []string
	for _, s := range shown {
		c := s.Category
		if c == "" {
			c = "general"
		}
		if groups[c] == nil {
			categories = append(categories, c)
		}
		groups[c] = append(groups[c], s)
	}
	slices.Sort(categories)
	for _, g := range groups { // "general" may be two categories in one
		slices.SortStableFunc(g, func(a, b *Skill) int { return strings.Compare(a.Name, b.Name) })
	}
	in := index{list: l, categories: categories, groups: groups, first: o.First}
	var text string
	for _, level := range levels {
		if text = in.render(level); len(text) <= o.Budget {
			break
		}
	}
	if len(text) > o.Budget {
		text = cutLines(text, o.Budget)
	}
	return strings.TrimSpace(guidance) + "\n\n<available_skills>\n" + text + "</available_skills>\n\n" + closing
}

// detail is how much is said of a skill.
type detail int

const (
	none detail = iota
	names
	lines
)

// level is how much is said of those that come first, and of the others.
type level struct{ first, rest detail }

var levels = [...]level{{lines, lines}, {lines, names}, {lines, none}, {names, none}, {none, none}}

type index struct {
	list       *Listing
	categories []string
	groups     map[string][]*Skill
	first      func(*Skill) bool
}

func (x *index) render(v level) string {
	var b strings.Builder
	for _, c := range x.categories {
		b.WriteString("  " + c + ":")
		if v.rest == none {
			fmt.Fprintf(&b, " %d skill", len(x.groups[c]))
			if len(x.groups[c]) != 1 {
				b.WriteByte('s')
			}
		} else if about := x.list.about(c); about != "" {
			b.WriteString(" " + about)
		}
		if v.first == v.rest {
			write(&b, x.groups[c], v.rest)
		} else {
			first, rest := x.split(x.groups[c])
			write(&b, first, v.first)
			write(&b, rest, v.rest)
		}
		b.WriteByte('\n')
	}
	switch v.rest {
	case names:
		b.WriteString("  (names only, because there are many; skills_list(query=\"...\") tells more)\n")
	case none:
		b.WriteString("  (too many to name; find them with skills_list(query=\"...\"))\n")
	case lines:
	}
	return b.String()
}

func (x *index) split(group []*Skill) (first, rest []*Skill) {
	for _, s := range group {
		if x.first(s) {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	return first, rest
}

func write(b *strings.Builder, group []*Skill, d detail) {
	switch d {
	case none:
	case names:
		for i, s := range group {
			b.WriteString([]string{", ", "\n    - "}[max(0, 1-i)] + s.Name)
		}
	case lines:
		for _, s := range group {
			b.WriteString("\n    - " + s.Name)
			if short := s.Short(); short != "" {
				b.WriteString(": " + short)
			}
		}
	}
}

// cutLines keeps as many categories as there is room for.
func cutLines(text string, budget int) string {
	all := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	last := all[len(all)-1] + "\n" // what the list says of itself
	size, n := len(last)+len("  (and 100000 more categories)\n"), 0
	for n < len(all)-1 && size+len(all[n]) <= budget {
		size += len(all[n])
		n++
	}
	return strings.Join(all[:n], "") + fmt.Sprintf("  (and %d more categories)\n", len(all)-1-n) + last
}

// about is what DESCRIPTION.md says of a category, in one line.
func (l *Listing) about(category string) string {
	said := l.About[category]
	if said == "" && category == "general" {
		said = l.About[""]
	}
	return cut(unquote(oneLine(said)), 200)
}
