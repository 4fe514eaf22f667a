package skill

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestCommandsF073: the program's own names win, nothing becomes unreachable.
func TestCommandsF073(t *testing.T) {
	t.Parallel()
	l := library(t)
	for dir, name := range map[string]string{"a/model": "model", "b/one": "One Two", "c/two": "one_two", "d/x": "here.now", "e/han": "日本", "f/off": "off", "g/bad": "[bad"} {
		put(t, l.Dir(), dir+"/SKILL.md", "---\nname: "+name+"\ndescription: d\n---\nB")
	}
	got := map[string]string{}
	for _, c := range l.List().Commands(func(s *Skill) bool { return s.Name == "off" }, func(n string) bool { return n == "model" || n == "one-two-2" }) {
		got[c.Skill.Rel] = c.Name + "|" + c.Clash
		if c.Clash != "" && c.Name != "" && c.Name == Slug(c.Skill.Name) {
			t.Errorf("%s clashes and has its name", c.Name)
		}
	}
	first := l.Dir() + "/b/one/SKILL.md"
	want := map[string]string{"a/model": "|/model is a command of the program", "b/one": "one-two|", "c/two": "one-two-3|/one-two is " + first, "d/x": "herenow|", "e/han": "han|", "g/bad": "bad|"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

// TestMenuF074: one odd name spoils no menu; what is left out is counted.
func TestMenuF074(t *testing.T) {
	t.Parallel()
	l := library(t)
	long := strings.Repeat("long-", 10)
	for _, name := range []string{"claude-code", "a+b/c@d", long + "one", long + "two"} {
		put(t, l.Dir(), Slug(name)+"/SKILL.md", "---\nname: "+name+"\ndescription: "+strings.Repeat("word ", 20)+"\n---\nB")
	}
	items, left := Menu(l.List().Commands(nil, nil), TelegramMenu, "help")
	if left != 0 || len(items) != 4 {
		t.Fatalf("%v, %d left", items, left)
	}
	for _, i := range items {
		if strings.Trim(i.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || len(i.Name) > 32 || len([]rune(i.About)) > 40 {
			t.Errorf("item %+v", i)
		}
		if s, err := l.List().Find(i.Command); err != nil {
			t.Errorf("%s does not lead back: %v, %v", i.Command, s, err)
		}
	}
	if items[0].Name != "abcd" || items[1] != (MenuItem{"claude_code", "claude-code", items[1].About}) || items[2].Name == items[3].Name {
		t.Errorf("items %+v", items)
	}
	var many []Command
	for i := range 150 {
		many = append(many, Command{Name: fmt.Sprintf("s%d", i), Skill: &Skill{Name: "x"}})
	}
	if items, left := Menu(many, DiscordMenu, "help", "new"); len(items) != 98 || left != 52 {
		t.Errorf("%d items, %d left", len(items), left)
	}
}
