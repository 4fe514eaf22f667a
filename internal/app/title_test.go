package app

import (
	"fmt"
	"testing"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/fakemodel"
)

func TestTidyTitle(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Backups of the database":                     "Backups of the database",
		"  \n**Title: \"Backups of the database.\"**": "Backups of the database",
		"# 数据库备份方案\n\nBecause…":                       "数据库备份方案",
		"\"Quoted\"":                                  "Quoted",
		"title:   spaced   out  ":                     "spaced out",
		"Ratio: 3 to 1":                               "Ratio: 3 to 1",
		"":                                            "",
		" \n\t\n":                                     "",
	} {
		if got := tidyTitle(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	if n := len([]rune(tidyTitle(fmt.Sprintf("%0200d", 7)))); n != mostTitle {
		t.Errorf("a long one has %d characters", n)
	}
}

// A conversation with a person is called by its first words; a model finds a
// better title after the first answer, once, and never over the person's own.
func TestTitles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, own, slot string
		interactive     bool
		elsewhere       bool // the model of the conversation is not on this machine
		want            string
		asked           int
	}{
		{name: "a person, a model for it", interactive: true, slot: "custom", want: "Backups of the database", asked: 1},
		{name: "a person, a model on this machine", interactive: true, want: "how do I make backups, and how often?"},
		{name: "a person, a model elsewhere", interactive: true, elsewhere: true, want: "Daily"},
		{name: "nobody", slot: "custom", want: "how do I make backups, and how often?"},
		{name: "a title of the person", interactive: true, slot: "custom", own: "Mine", want: "Mine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			main := fakemodel.New(t, fakemodel.Text("Daily.")).Repeat()
			namer := fakemodel.New(t, fakemodel.Text("\"Backups of the database.\"")).Repeat()
			cfg := fmt.Sprintf("model: {provider: custom, default: m, base_url: %q}\nproviders: {namer: {api: %q}}\n", main.V1(), namer.V1())
			if c.slot != "" {
				cfg += "auxiliary: {title_generation: {provider: namer, model: small}}\n"
			}
			a := home(t, map[string]string{"config.yaml": cfg})
			conv, err := a.Converse(t.Context(), Ask{Interactive: c.interactive, Title: true})
			if err != nil {
				t.Fatal(err)
			}
			if conv.local = !c.elsewhere; !conv.local {
				c.asked = 1
			}
			if c.own != "" {
				if err := conv.SetTitle(t.Context(), c.own); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if done := answer(t, conv, "how do I make backups, and how often?"); done.Status != agent.OK {
					t.Fatal(done)
				}
				a.naming.Wait()
			}
			if got, err := conv.Title(t.Context()); err != nil || got != c.want {
				t.Errorf("title %q, %v", got, err)
			}
			if n := len(namer.Requests()) + len(main.Requests()) - 2; n != c.asked {
				t.Errorf("asked %d times", n)
			}
			s, err := conv.Stored(t.Context())
			if err != nil || s.Usage.Calls != 2+c.asked {
				t.Errorf("%d calls are counted, %v", s.Usage.Calls, err)
			}
		})
	}
}
