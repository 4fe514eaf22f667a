package skill

import (
	"fmt"
	"slices"
	"strings"
)

// Command is a skill as people call for it inside a conversation.
type Command struct {
	Name  string // without the slash; "" when a word of the program has it
	Skill *Skill
	Clash string // why it is not called what it would be
}

// Commands are the skills that people may call for, by name. reserved says which
// names mean something else already: such a skill is reached as /skill NAME
// only. Of two with one name the first keeps it, the next has a number.
func (l *Listing) Commands(off func(*Skill) bool, reserved func(string) bool) []Command {
	taken := map[string]*Skill{}
	var out []Command
	for _, s := range l.order {
		if s.State != OK && s.State != Broken || s.closed || off != nil && off(s) {
			continue
		}
		slug := Slug(s.Name)
		if slug == "" {
			slug = Slug(s.DirName())
		}
		c := Command{Name: slug, Skill: s}
		switch {
		case slug == "":
			c.Clash = "its name has no letter that a command may have"
		case reserved != nil && reserved(slug):
			c.Name, c.Clash = "", "/"+slug+" is a command of the program"
		case taken[slug] != nil:
			c.Clash = "/" + slug + " is " + taken[slug].Path
			for n := 2; ; n++ {
				if c.Name = fmt.Sprintf("%s-%d", slug, n); taken[c.Name] == nil && (reserved == nil || !reserved(c.Name)) {
					break
				}
			}
		}
		if c.Name != "" {
			taken[c.Name] = s
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Command) int { return strings.Compare(a.Skill.Name, b.Skill.Name) })
	return out
}

// MenuItem is a command as a chat platform's menu has it.
type MenuItem struct{ Name, Command, About string }

// MenuRule is what the menu of a platform takes.
type MenuRule struct {
	Most, Name, About int  // entries, characters of a name and of what is said about it
	Underscores       bool // for hyphens
}

// The rules of the platforms that have menus.
var (
	TelegramMenu = MenuRule{Most: 100, Name: 32, About: 40, Underscores: true}
	DiscordMenu  = MenuRule{Most: 100, Name: 32, About: 100}
)

// Menu fits commands to a platform: names cut to what it takes and made unique
// again, and no more than it shows. None of them can spoil the others. left is
// how many found no place. taken are the names that are in the menu already.
func Menu(commands []Command, r MenuRule, taken ...string) (items []MenuItem, left int) {
	used := map[string]bool{}
	for _, t := range taken {
		used[t] = true
	}
	room := max(r.Most-len(taken), 0)
	for _, c := range commands {
		name := c.Name
		if r.Underscores {
			name = strings.ReplaceAll(name, "-", "_")
		}
		name = strings.Trim(name[:min(len(name), r.Name)], "-_")
		if used[name] {
			stem := name[:min(len(name), r.Name-1)]
			for d := byte('0'); d <= '9' && used[name]; d++ {
				name = stem + string(d)
			}
		}
		if name == "" || used[name] || len(items) == room {
			left++
			continue
		}
		used[name] = true
		items = append(items, MenuItem{name, c.Name, cut(orElse(oneLine(c.Skill.Description), c.Skill.Name), r.About)})
	}
	return items, left
}
