package toolset

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The texts of Why are read by people and by models; this file is all of them.
func TestWhy(t *testing.T) {
	t.Parallel()
	more := []offer{{"weather", "weather", ""}, {"fitbit", "fitbit_steps", "plugin:fitbit"}, {"mcp-gh", "gh_issues", "mcp:gh"}, {"mcp-b", "b_list", "mcp:b"}, {"moa", "mixture_of_agents", ""}, {"discord_admin", "discord_admin", ""}}
	table := New(registry(t, round, more), Options{Servers: servers, Custom: map[string][]string{"mine": {"read_file", "todo"}}})
	cli := func(names ...string) Selection {
		return Selection{Platform: "cli", PlatformToolsets: map[string][]string{"cli": names}}
	}
	var b strings.Builder
	for _, c := range []struct {
		id    string
		sel   Selection
		names string
	}{
		{"everything", Selection{}, "read_file web_search file nope file_tools"},
		{"cli", Selection{Platform: "cli"}, "read_file terminal web_search web browser_cdp mixture_of_agents discord_admin weather gh_issues fitbit_steps mcp-dead gh hermes-cli mine debugging kanban_show rl raed_file all"},
		{"chosen", cli("file", "gh", "bogus"), "read_file terminal gh_issues b_list weather web_search clarify"},
		{"no_mcp", cli("hermes-cli", "no_mcp"), "gh_issues terminal"},
		{"plugin known", Selection{Platform: "cli", KnownPlugins: map[string][]string{"cli": {"fitbit"}}}, "fitbit_steps"},
		{"api_server", Selection{Platform: "api_server"}, "clarify send_message read_file"},
		{"given", Selection{Toolsets: []string{"debugging", "fil"}}, "process read_file todo web_search"},
		{"given none", Selection{Toolsets: []string{}}, "todo"},
		{"disabled", Selection{Platform: "cli", Disabled: []string{"file", "debuging", "safe"}}, "read_file file terminal web_search"},
		{"custom disabled", Selection{Platform: "cli", Disabled: []string{"mine"}}, "read_file patch todo"},
		{"child", Selection{Platform: "cli", Within: []string{"todo", "memory"}, Without: map[string]string{"memory": "a child session keeps no memory"}}, "todo memory read_file"},
	} {
		e := table.Effective(c.sel)
		fmt.Fprintf(&b, "# %s\n", c.id)
		for _, n := range e.Notes {
			fmt.Fprintf(&b, "note: %s\n", n)
		}
		for _, name := range words(c.names) {
			fmt.Fprintln(&b, e.Why(name))
		}
		fmt.Fprintln(&b)
	}
	const file = "testdata/why.golden"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestNearestNamesOnce(t *testing.T) {
	t.Parallel()
	table := New(registry(t, round), Options{})
	why := table.Effective(Selection{Platform: "cli"}).Why("terminl")
	if strings.Count(why, "terminal") != 1 {
		t.Errorf("got %q", why)
	}
}
