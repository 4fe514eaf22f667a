package toolset

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/tool"
)

// offer is one registered tool of a test.
type offer struct{ set, name, source string }

// round are the tools of this round, as the binary registers them.
var round = []offer{
	{"file", "read_file", ""},
	{"file", "write_file", ""},
	{"file", "patch", ""},
	{"file", "search_files", ""},
	{"terminal", "terminal", ""},
	{"terminal", "process", ""},
	{"skills", "skills_list", ""},
	{"skills", "skill_view", ""},
	{"skills", "skill_manage", ""},
	{"todo", "todo", ""},
	{"memory", "memory", ""},
	{"clarify", "clarify", ""},
	{"session_search", "session_search", ""},
	{"code_execution", "execute_code", ""},
	{"delegation", "delegate_task", ""},
}

// whole is every tool of the table.
func whole() []offer {
	var list []offer
	seen := map[string]bool{}
	for _, s := range sets {
		for _, name := range s.Tools {
			if !seen[name] {
				seen[name] = true
				list = append(list, offer{s.Name, name, ""})
			}
		}
	}
	return list
}

func registry(t testing.TB, offers ...[]offer) *tool.Registry {
	t.Helper()
	r := tool.New()
	for _, o := range slices.Concat(offers...) {
		err := r.Add(tool.Tool{Name: o.name, Toolset: o.set, Source: o.source, Run: func(context.Context, *tool.Call) (any, error) { return nil, nil }})
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func words(s string) []string { return strings.Fields(s) }

func equal(t *testing.T, what string, got []string, want string) {
	t.Helper()
	if !slices.Equal(got, words(want)) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, " "), want)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	table := New(registry(t), Options{})
	for name, want := range map[string]int{
		"hermes-cli": 45, "hermes-cron": 45, "hermes-telegram": 45, "hermes-discord": 47, "hermes-feishu": 50, "hermes-yuanbao": 50,
		"hermes-gateway": 57, "hermes-api-server": 35, "hermes-acp": 29, "debugging": 8, "safe": 4, "browser": 13, "rl": 10,
	} {
		if got, err := table.Resolve(name); err != nil || len(got) != want {
			t.Errorf("%s has %d tools, want %d (%v)", name, len(got), want, err)
		}
	}
}

func TestEveryNameIsOnce(t *testing.T) {
	t.Parallel()
	homes := map[string]bool{}
	names := map[string]bool{}
	for _, s := range sets {
		if names[s.Name] {
			t.Errorf("toolset %s stands twice", s.Name)
		}
		names[s.Name] = true
		for _, n := range s.Tools {
			homes[n] = true
		}
	}
	for _, n := range core {
		if !homes[n] {
			t.Errorf("core holds %s, which no toolset holds", n)
		}
	}
	for _, n := range append(configurable[:], defaultOff[:]...) {
		if !names[n] {
			t.Errorf("%s is configurable and no toolset", n)
		}
	}
	for _, d := range distributions {
		for _, c := range d.chances {
			if !names[c.set] {
				t.Errorf("distribution %s draws %s, which is no toolset", d.name, c.set)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	table := New(registry(t, []offer{{"weather", "weather", ""}, {"mcp-gh", "gh_issues", "mcp:gh"}, {"file", "stat_file", ""}, {"line", "line_send", "plugin:line"}}), Options{
		Custom: map[string][]string{
			"a": {"b", "todo"}, "b": {"a", "memory"}, "self": {"self", "clarify"}, "mine": {"read_file", "weather", "gh"},
			"wild": {"*"}, "wrong": {"todoo", "read_fil"}, "web": {"todo"},
		},
		Platforms: []string{"line"},
	})
	for _, c := range []struct{ id, name, want string }{
		{"17", "debugging", "patch process read_file search_files stat_file terminal web_extract web_search write_file"},
		{"18-cycle", "a", "memory todo"},
		{"18-other-end", "b", "memory todo"},
		{"18-self", "self", "clarify"},
		{"19-registry-only", "weather", "weather"},
		{"19-server", "mcp-gh", "gh_issues"},
		{"19-alias", "gh", "gh_issues"},
		{"custom", "mine", "gh_issues read_file weather"},
		{"legacy", "file_tools", "patch read_file search_files write_file"},
		{"joined", "file", "patch read_file search_files stat_file write_file"},
		{"custom-never-hides", "web", "web_extract web_search"},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			got, err := table.Resolve(c.name)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, c.name, got, c.want)
		})
	}
	all, _ := table.Resolve("all")
	for _, name := range []string{"*", "wild"} {
		if got, _ := table.Resolve(name); !slices.Equal(got, all) || len(got) < 80 { // case 20
			t.Errorf("%s differs from all: %d and %d", name, len(got), len(all))
		}
	}
	if got, _ := table.Resolve("hermes-line"); len(got) != len(core)+1 || !slices.Contains(got, "line_send") {
		t.Errorf("hermes-line has %d tools: %v", len(got), got)
	}
	for name, want := range map[string]string{
		"brwser": `no toolset is called "brwser" (did you mean browser?)`, "read_file": `"read_file" is a tool and no toolset; its toolset is file`,
		"qqqqq": `no toolset is called "qqqqq"`,
	} {
		if _, err := table.Resolve(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	want := []string{
		`custom_toolsets.web: a toolset has that name already; choose another one`,
		`custom_toolsets.wrong: no toolset is called "todoo" (did you mean todo?)`,
		`custom_toolsets.wrong: no toolset is called "read_fil" (did you mean read_file, a tool of the toolset file?)`,
	}
	if got := table.Problems(); !slices.Equal(got, want) {
		t.Errorf("problems:\n%s", strings.Join(got, "\n"))
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	// F-036: a server called like a toolset; both stay usable.
	table := New(registry(t, round, []offer{{"kanban", "kanban_show", ""}, {"mcp-kanban", "mcp_kanban_list", "mcp:kanban"}}), Options{
		Custom:  map[string][]string{"web": {"todo"}, "x": {"todoo"}},
		Servers: map[string]bool{"kanban": true, "gone": true},
	})
	want := []string{
		`mcp_servers.kanban: a toolset has that name too; "kanban" means the toolset, "mcp-kanban" the server`,
		`custom_toolsets.web: a toolset has that name already; choose another one`,
		`custom_toolsets.x: no toolset is called "todoo" (did you mean todo?)`,
	}
	if got := table.Problems(); !slices.Equal(got, want) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
	for name, tool := range map[string]string{"kanban": "kanban_show", "mcp-kanban": "mcp_kanban_list"} {
		if e := table.Effective(Selection{Toolsets: []string{name}}); !slices.Equal(e.Names, []string{tool}) {
			t.Errorf("%s brings %v", name, e.Names)
		}
	}
}

// Every tool that is registered is in a toolset (F-038), and in a set that can
// be switched or follows a platform.
func TestNoToolIsLost(t *testing.T) {
	t.Parallel()
	table := New(registry(t, whole(), []offer{{"brand_new", "thing", ""}, {"web", "web_summary", "python:x.py"}, {"hermes-telegram", "tg_poll", ""}}), Options{})
	e := table.Effective(Selection{})
	for _, tool := range []string{"thing", "web_summary", "tg_poll", "yb_send_dm"} {
		if !e.Has(tool) {
			t.Errorf("%s", e.Why(tool))
		}
	}
	for _, want := range []struct{ name, set string }{{"thing", "brand_new"}, {"web_summary", "web"}, {"browser_cdp", "browser"}, {"web_search", "web"}} {
		if got := table.Home(want.name); got != want.set {
			t.Errorf("%s is at home in %q", want.name, got)
		}
	}
}

func TestFollowsTheRegistry(t *testing.T) {
	t.Parallel()
	r := registry(t, round)
	table := New(r, Options{})
	sel := Selection{Platform: "cli"}
	if table.Effective(sel).Has("gh_issues") {
		t.Fatal("there already")
	}
	if err := r.Add(tool.Tool{Name: "gh_issues", Toolset: "mcp-gh", Run: func(context.Context, *tool.Call) (any, error) { return nil, nil }}); err != nil {
		t.Fatal(err)
	}
	if e := table.Effective(sel); !e.Has("gh_issues") {
		t.Error(e.Why("gh_issues"))
	}
	r.Remove("gh_issues")
	if table.Effective(sel).Has("gh_issues") {
		t.Error("still there")
	}
}

func TestDistributions(t *testing.T) {
	t.Parallel()
	if got := Distributions(); len(got) != 17 {
		t.Errorf("%d distributions", len(got))
	}
	first, err := Draw("balanced", seeded(7))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := Draw("balanced", seeded(7)); !slices.Equal(first, again) {
		t.Errorf("one seed gave %v and %v", first, again)
	}
	got, _ := Draw("default", seeded(1))
	equal(t, "default", got, "web vision image_gen terminal file moa browser")
	counts := map[string]int{}
	for i := range 2000 {
		drawn, _ := Draw("image_gen", seeded(uint64(i)))
		if len(drawn) == 0 {
			t.Fatal("an empty draw")
		}
		for _, s := range drawn {
			counts[s]++
		}
	}
	for set, percent := range map[string]int{"image_gen": 90, "web": 55, "moa": 10} {
		if got := counts[set] * 100 / 2000; got < percent-5 || got > percent+5 {
			t.Errorf("%s was drawn in %d %% of the samples, want about %d", set, got, percent)
		}
	}
	if _, err := Draw("balancd", seeded(1)); err == nil || !strings.Contains(err.Error(), "balanced") {
		t.Errorf("unknown: %v", err)
	}
}
