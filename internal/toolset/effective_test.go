package toolset

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 0)) }

const defaults = "browser clarify code_execution cronjob delegation file image_gen kanban memory messaging session_search skills terminal todo tts vision web"

var servers = map[string]bool{"gh": true, "b": true, "dead": false}

func TestPlatformToolsets(t *testing.T) {
	t.Parallel()
	plugin := []offer{{"fitbit", "fitbit_steps", "plugin:fitbit"}, {"mcp-gh", "gh_issues", "mcp:gh"}, {"mcp-b", "b_list", "mcp:b"}, {"mcp-dead", "dead_x", "mcp:dead"}}
	table := New(registry(t, whole(), plugin), Options{Servers: servers, Custom: map[string][]string{"mine": {"read_file", "moa"}}})
	cli := func(names ...string) Selection {
		return Selection{Platform: "cli", PlatformToolsets: map[string][]string{"cli": names}}
	}
	known := map[string][]string{"cli": {"fitbit"}, "api_server": {"fitbit"}}
	for _, c := range []struct {
		id   string
		sel  Selection
		want string // toolsets; mcp-b, mcp-gh and fitbit are told apart by the flags below
	}{
		{"default-cli", Selection{Platform: "cli"}, defaults + " +mcp +fitbit"},
		{"default-telegram", Selection{Platform: "telegram"}, defaults + " +mcp +fitbit"},
		{"default-cron", Selection{Platform: "cron"}, defaults + " +mcp +fitbit"},
		{"default-discord", Selection{Platform: "discord"}, defaults + " +mcp +fitbit"},
		{"default-api", Selection{Platform: "api_server", KnownPlugins: known}, "browser code_execution cronjob delegation file image_gen memory session_search skills terminal todo vision web +mcp"},
		{"default-yuanbao", Selection{Platform: "yuanbao"}, defaults + " yuanbao +mcp +fitbit"},
		{"default-feishu", Selection{Platform: "feishu"}, defaults + " feishu_doc feishu_drive +mcp +fitbit"},
		{"own-homeassistant", Selection{Platform: "homeassistant"}, defaults + " homeassistant +mcp +fitbit"},
		{"hass-token", Selection{Platform: "cli", HomeAssistant: true}, defaults + " homeassistant +mcp +fitbit"},
		{"unknown-platform", Selection{Platform: "carrier-pigeon"}, defaults + " +mcp +fitbit"},
		{"92-no-mcp", cli("web", "no_mcp"), "kanban web +fitbit"},
		{"92-one-server", cli("web", "gh"), "kanban mcp-gh web +fitbit"},
		{"92-full-name", cli("web", "mcp-gh"), "kanban mcp-gh web +fitbit"},
		{"92-all-servers", cli("web"), "kanban web +mcp +fitbit"},
		{"dead-server", cli("web", "dead"), "kanban web +mcp +fitbit"},
		{"empty-list", cli(), "kanban +mcp +fitbit"},
		{"default-off-chosen", cli("moa", "no_mcp"), "kanban moa +fitbit"},
		{"restricted", cli("web", "discord", "no_mcp"), "kanban web +fitbit"},
		{"restricted-at-home", Selection{Platform: "discord", PlatformToolsets: map[string][]string{"discord": {"discord_admin", "no_mcp"}}}, "discord_admin kanban +fitbit"},
		{"bundle", cli("debugging", "no_mcp"), "debugging file kanban terminal web +fitbit"},
		{"custom", cli("mine", "no_mcp"), "kanban mine moa +fitbit"},
		{"plugin-known", Selection{Platform: "cli", PlatformToolsets: map[string][]string{"cli": {"web", "no_mcp"}}, KnownPlugins: known}, "kanban web"},
		{"plugin-named", Selection{Platform: "cli", PlatformToolsets: map[string][]string{"cli": {"web", "fitbit", "no_mcp"}}, KnownPlugins: known}, "kanban web +fitbit"},
		{"other-preset", cli("hermes-api-server", "no_mcp"), "browser code_execution cronjob delegation file image_gen kanban memory session_search skills terminal todo vision web +fitbit"},
		{"disabled-last", Selection{Platform: "cli", PlatformToolsets: map[string][]string{"cli": {"web", "file", "no_mcp"}}, Disabled: []string{"web", "kanban"}}, "file +fitbit"},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			want := words(strings.NewReplacer("+mcp", "mcp-b mcp-gh", "+fitbit", "fitbit").Replace(c.want))
			slices.Sort(want)
			equal(t, "toolsets", table.Effective(c.sel).Toolsets, strings.Join(want, " "))
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	table := New(registry(t, whole()), Options{Custom: map[string][]string{"mine": {"read_file", "write_file"}}})
	browser := "browser_back browser_cdp browser_click browser_console browser_dialog browser_get_images browser_navigate browser_press browser_scroll browser_snapshot browser_type browser_vision"
	for _, c := range []struct {
		id   string
		sel  Selection
		want string
	}{
		{"14-none", Selection{Toolsets: []string{}}, ""},
		{"14-bogus", Selection{Toolsets: []string{"bogus"}}, ""},
		{"16", Selection{Toolsets: []string{"browser"}, Disabled: []string{"web"}}, browser},
		{"F-037", Selection{Toolsets: []string{"browser", "web"}, Disabled: []string{"web"}}, browser},
		{"F-037-borrowed", Selection{Toolsets: []string{"browser", "web"}, Disabled: []string{"browser"}}, "web_extract web_search"},
		{"F-037-borrowed-only", Selection{Toolsets: []string{"web"}, Disabled: []string{"search"}}, "web_extract"},
		{"legacy", Selection{Toolsets: []string{"web_tools", " terminal_tools "}}, "terminal web_extract web_search"},
		{"legacy-disabled", Selection{Toolsets: []string{"web"}, Disabled: []string{"web_tools"}}, ""},
		{"bundle-disabled", Selection{Toolsets: []string{"file", "todo", "web"}, Disabled: []string{"debugging"}}, "todo"},
		{"custom-disabled", Selection{Toolsets: []string{"file"}, Disabled: []string{"mine"}}, "patch search_files"},
		{"all-disabled", Selection{Platform: "cli", Disabled: []string{"all"}}, ""},
		{"within", Selection{Toolsets: []string{"file", "todo"}, Within: []string{"read_file", "todo", "clarify"}}, "read_file todo"},
		{"without", Selection{Toolsets: []string{"todo", "clarify"}, Without: map[string]string{"clarify": "nobody is there"}}, "todo"},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			e := table.Effective(c.sel)
			equal(t, "tools", e.Names, c.want)
			for _, n := range e.Names {
				if !e.Has(n) || !strings.Contains(e.Why(n), " is on: ") {
					t.Errorf("%s", e.Why(n))
				}
			}
		})
	}
	for _, all := range []Selection{{}, {Toolsets: []string{"all"}}, {Toolsets: []string{"*"}}, {Platform: "cli", PlatformToolsets: map[string][]string{"cli": {"*"}}}} {
		if e := table.Effective(all); len(e.Names) != len(whole()) {
			t.Errorf("%v: %d tools of %d", all.Toolsets, len(e.Names), len(whole()))
		}
	}
}

// Every name of the table has a reason, and the reason does not depend on the
// order of a map.
func TestEveryAbsenceHasAReason(t *testing.T) {
	t.Parallel()
	table := New(registry(t, round), Options{Servers: servers})
	for _, sel := range []Selection{
		{},
		{Platform: "cli"},
		{Platform: "api_server"},
		{Toolsets: []string{"debugging"}},
		{Toolsets: []string{}},
		{Platform: "cli", PlatformToolsets: map[string][]string{"cli": {"file"}}, Disabled: []string{"all"}},
		{Platform: "cli", Within: []string{"todo"}, Without: map[string]string{"memory": "a child has none"}},
	} {
		e, again := table.Effective(sel), table.Effective(sel)
		var names []string
		for _, s := range sets {
			names = append(append(names, s.Name), s.Tools...)
		}
		names = append(names, "mcp-gh", "gh", "mcp-dead", "hermes-cli", "file_tools")
		for _, n := range names {
			if len(e.Chain(n)) == 0 || e.Why(n) != again.Why(n) || strings.Contains(e.Why(n), "; ;") {
				t.Errorf("%+v: %q and %q", sel, e.Why(n), again.Why(n))
			}
			if !e.Has(n) && len(table.view().holders(n)) > 0 && len(e.Chain(n)) < 2 {
				t.Errorf("%+v: only %q", sel, e.Why(n))
			}
		}
	}
}

func TestActive(t *testing.T) {
	t.Parallel()
	e := New(registry(t, round), Options{}).Effective(Selection{Platform: "cli", Disabled: []string{"memory"}})
	equal(t, "active", e.Active(), "clarify code_execution delegation file session_search skills terminal todo")
}

func TestSwitch(t *testing.T) {
	t.Parallel()
	table := New(registry(t, whole(), []offer{{"fitbit", "fitbit_steps", "plugin:fitbit"}}), Options{Servers: servers, Custom: map[string][]string{"mine": {"read_file"}}})
	const base = "browser clarify code_execution cronjob delegation file fitbit image_gen memory messaging session_search skills terminal todo tts vision web"
	for _, c := range []struct {
		id      string
		sel     Selection
		on, off []string
		want    string
		err     string
	}{
		{id: "off", sel: Selection{Platform: "cli"}, off: []string{"web", "fitbit"}, want: "browser clarify code_execution cronjob delegation file image_gen memory messaging session_search skills terminal todo tts vision"},
		{id: "on", sel: Selection{Platform: "cli"}, on: []string{"moa"}, want: "browser clarify code_execution cronjob delegation file fitbit image_gen memory messaging moa session_search skills terminal todo tts vision web"},
		{id: "keeps", sel: Selection{Platform: "cli", PlatformToolsets: map[string][]string{"cli": {"file", "mine", "gh", "no_mcp", "hermes-cli"}}}, on: []string{"web"}, want: "file fitbit gh mine web"},
		{id: "nothing", sel: Selection{Platform: "cli"}, want: base},
		{id: "platform", sel: Selection{Platform: "clu"}, err: `no platform is called "clu"`},
		{id: "unknown", sel: Selection{Platform: "cli"}, on: []string{"webb"}, err: "did you mean web?"},
		{id: "restricted", sel: Selection{Platform: "cli"}, on: []string{"discord"}, err: "for the platform discord only"},
		{id: "no-switch", sel: Selection{Platform: "cli"}, off: []string{"kanban"}, err: "has no switch"},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			named, known, err := table.Switch(c.sel, c.on, c.off)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "named", named, c.want)
			equal(t, "known", known, "fitbit")
		})
	}
}

func BenchmarkEffective(b *testing.B) {
	table := New(registry(b, whole()), Options{})
	for b.Loop() {
		table.Effective(Selection{Platform: "cli"})
	}
}
