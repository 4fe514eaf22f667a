package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func vars(m map[string]string) func(string) (string, bool) {
	return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
}

func loaded(t *testing.T, text string, env map[string]string) *Config {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(home, vars(env))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadNeverAborts(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"broken":       "a: [1\nb: }",
		"tab":          "a:\n\tb: 1\n",
		"list":         "- a\n",
		"two docs":     "a: 1\n---\nb: 2\n",
		"not utf-8":    "a: \"\xff\xfe\"\n",
		"alias bomb":   "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
		"self alias":   "a: &a [*a]\n",
		"complex keys": "? [a, b]\n: c\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := loaded(t, text, nil)
			if w := c.Warnings(); len(w) != 1 || w[0].Severity != Error || !strings.Contains(w[0].Message, c.Path()) {
				t.Errorf("warnings = %v", w)
			}
			if c.Has("a") {
				t.Error("a broken file must leave the defaults")
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		c, err := Load(t.TempDir(), nil)
		if err != nil || len(c.Warnings()) != 0 {
			t.Errorf("err %v, warnings %v", err, c.Warnings())
		}
	})
	t.Run("empty and comments only", func(t *testing.T) {
		for _, text := range []string{"", "\n", "# only\n", "---\n", "\xef\xbb\xbf"} {
			if c := loaded(t, text, nil); len(c.Warnings()) != 0 {
				t.Errorf("%q: %v", text, c.Warnings())
			}
		}
	})
}

func TestScalarsAsTheOriginalReadsThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"yes": true, "On": true, "TRUE": true, "off": false, "No": false, "y": "y", "oN": "oN",
		"~": nil, "null": nil, "": nil, "12": 12, "-3": -3, "+4": 4, "017": 15, "0o17": "0o17", "0x1F": 31, "0b11": 3,
		"1_000": 1000, "089": "089", "3.10": 3.1, "1e3": "1e3", "1.0e+3": 1000.0, ".5": 0.5, "1.": 1.0, "12:30": "12:30",
		"2024-01-02": "2024-01-02", "'yes'": "yes", `"12"`: "12", "!!str 5": "5", "1.2.3": "1.2.3", ".": ".",
		"!!float 3": 3, "99999999999999999999": "99999999999999999999",
	} {
		c := Parse("config.yaml", []byte("zzz: "+text+"\n"), nil)
		if got, _ := c.Get("zzz"); got != want {
			t.Errorf("%q = %#v, want %#v %v", text, got, want, c.Warnings())
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	c := loaded(t, "a: ${X}\nb: pre-${X}-${NOPE}-post\nc: [\"${X}\"]\nd: $MY_KEY\ne: ${X:-def}\nf: ${unclosed\ng: $5 off\nh: ${1} ${a[@]}\nquick_commands: {x: {command: \"echo ${NOT:-set}\"}}\n", map[string]string{"X": "v: w"})
	for key, want := range map[string]string{"a": "v: w", "b": "pre-v: w-${NOPE}-post", "c.0": "v: w", "d": "$MY_KEY", "e": "${X:-def}", "f": "${unclosed", "g": "$5 off"} {
		if got, _ := c.Get(key); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if n := len(c.Warnings()); n != 3 {
		t.Errorf("%d warnings: %v", n, c.Warnings())
	}
	var all strings.Builder
	for _, w := range c.Warnings() {
		all.WriteString(w.String() + "\n")
	}
	for _, want := range []string{"line 2: b uses ${NOPE}, which is not set", "line 4: d is the text $MY_KEY", "no default syntax; write ${X}"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("warnings lack %q:\n%s", want, all.String())
		}
	}
}

func TestLegacyKeys(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, key, want string }{
		{"model as text", "model: vendor/x\n", "model.default", "vendor/x"},
		{"model as text keeps root provider", "model: x\nprovider: p\nbase_url: http://h\n", "model.provider", "p"},
		{"base_url at the root", "model: {default: x}\nbase_url: http://h\n", "model.base_url", "http://h"},
		{"model wins over root", "model: {default: x, provider: q}\nprovider: p\n", "model.provider", "q"},
		{"model.model", "model: {model: x}\n", "model.default", "x"},
		{"max_turns", "max_turns: 7\n", "agent.max_turns", "7"},
		{"max_turns loses", "max_turns: 7\nagent: {max_turns: 8}\n", "agent.max_turns", "8"},
		{"fallback map", "fallback_model: {provider: p, model: m}\n", "fallback_providers[0].model", "m"},
		{"fallback list", "fallback_model: [{provider: p, model: m}]\nfallback_providers: []\n", "fallback_providers.0.provider", "p"},
		{"custom providers", "custom_providers:\n- name: My Box (lan)\n  base_url: http://b\n", "providers.my-box-lan.base_url", "http://b"},
		{"custom by host", "custom_providers:\n- base_url: http://box.lan:80/v1\n", `providers["box.lan"].base_url`, "http://box.lan:80/v1"},
		{"summary", "compression: {summary_model: s}\n", "auxiliary.compression.model", "s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := loaded(t, tc.text, nil)
			if got := c.String(tc.key); got != tc.want {
				t.Errorf("%s = %q, want %q", tc.key, got, tc.want)
			}
		})
	}
}

type terminal struct {
	Backend  string
	Timeout  time.Duration
	Retries  int `yaml:"api_max_retries"`
	Ratio    float64
	On       bool
	Dirs     []string
	Env      map[string]string
	Nested   struct{ BaseURL string }
	Parallel *int
	Any      any
}

func TestDecode(t *testing.T) {
	t.Parallel()
	five := 5
	opts := terminal{Backend: "local", Timeout: time.Minute, Retries: 3, Parallel: &five, Env: map[string]string{"A": "1"}}
	c := loaded(t, "t:\n  backend: off\n  timeout: '90'\n  api_max_retries: \"4\"\n  ratio: 0.50\n  on: 'yes'\n  dirs: one\n  env: {B: 1.10}\n  nested: {base_url: u}\n  parallel: null\n  any: [1, {a: b}]\n  unknown: 1\n", nil)
	if err := Decode(c, "t", &opts); err != nil {
		t.Fatal(err)
	}
	if opts.Backend != "off" || opts.Timeout != 90*time.Second || opts.Retries != 4 || opts.Ratio != 0.5 || !opts.On ||
		len(opts.Dirs) != 1 || opts.Env["A"] != "1" || opts.Env["B"] != "1.10" || opts.Nested.BaseURL != "u" || opts.Parallel != nil {
		t.Errorf("%+v", opts)
	}

	opts = terminal{Timeout: time.Minute, Retries: 3}
	c = loaded(t, "t:\n  timeout: soon\n  api_max_retries: 5.7\n  ratio: NaN\n  on: maybe\n  backend: ok\n  env: x\n", nil)
	err := Decode(c, "t", &opts)
	if err == nil {
		t.Fatal("want errors")
	}
	for _, want := range []string{`config t.timeout (line 2): want seconds`, `config t.api_max_retries (line 3): want a whole number, have "5.7"`, "t.ratio", "t.on", "t.env"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
	if opts.Timeout != time.Minute || opts.Retries != 3 || opts.Backend != "ok" {
		t.Errorf("%+v", opts)
	}
	if err := Decode(c, "absent", &opts); err != nil {
		t.Error(err)
	}
}

func TestSplitPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a": "a", "a.b": "a|b", "a.1.b": "a|1|b", "a[1].b": "a|1|b", "a[1][2]": "a|1|2", `a["x.y"].z`: "a|x.y|z",
		`a\.b.c`: "a.b|c", "a[+]": "a|+", "[0].a": "0|a",
		"": "", "a.": "", ".a": "", "a..b": "", "a[": "", "a[x]": "", "a[1]b": "", "a.[1]": "", `a[""]`: "",
	} {
		got, err := SplitPath(path)
		if strings.Join(got, "|") != want || (want == "") != (err != nil) {
			t.Errorf("%q = %q, %v", path, got, err)
		}
		if err == nil {
			if again, _ := SplitPath(JoinPath(got)); strings.Join(again, "|") != want {
				t.Errorf("%q joined is %q", path, JoinPath(got))
			}
		}
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	std := filepath.Join(user, ".hermes")
	for _, d := range []string{"profiles/work", "profiles/other"} {
		if err := os.MkdirAll(filepath.Join(std, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	active := t.TempDir()
	os.MkdirAll(filepath.Join(active, ".hermes/profiles/work"), 0o700)
	os.WriteFile(filepath.Join(active, ".hermes/active_profile"), []byte("work\n"), 0o600)
	gone := t.TempDir()
	os.MkdirAll(filepath.Join(gone, ".hermes"), 0o700)
	os.WriteFile(filepath.Join(gone, ".hermes/active_profile"), []byte("lost"), 0o600)
	for _, tc := range []struct {
		name, user, env, args string
		dir, root, rest, err  string
	}{
		{name: "standard", user: user, dir: std, root: std},
		{name: "HERMES_HOME", user: user, env: "/opt/data", dir: "/opt/data", root: "/opt/data"},
		{name: "HERMES_HOME trimmed", user: user, env: "  ", dir: std, root: std},
		{name: "HERMES_HOME is a profile", user: user, env: std + "/profiles/work", dir: std + "/profiles/work", root: std},
		{name: "HERMES_HOME profile elsewhere", user: user, env: "/srv/h/profiles/x", dir: "/srv/h/profiles/x", root: "/srv/h"},
		{name: "HERMES_HOME beats active", user: active, env: "/opt/data", dir: "/opt/data", root: "/opt/data"},
		{name: "active", user: active, dir: active + "/.hermes/profiles/work", root: active + "/.hermes"},
		{name: "flag beats active", user: active, args: "-p default chat", dir: active + "/.hermes", root: active + "/.hermes", rest: "chat"},
		{name: "flag beats both", user: active, env: active + "/.hermes/x", args: "chat -p work -q hi", dir: active + "/.hermes/profiles/work", root: active + "/.hermes", rest: "chat -q hi"},
		{name: "equals form", user: user, args: "--profile=other x", dir: std + "/profiles/other", root: std, rest: "x"},
		{name: "not a name", user: user, args: "serve -p :8080", dir: std, root: std, rest: "serve -p :8080"},
		{name: "a port", user: user, args: "serve -p 8080", dir: std, root: std, rest: "serve -p 8080"},
		{name: "after --", user: user, args: "run -- -p work", dir: std, root: std, rest: "run -- -p work"},
		{name: "unknown", user: user, args: "-p nosuch", err: `profile "nosuch" does not exist under`},
		{name: "invalid", user: user, args: "--profile=../x", err: `profile "../x": a name is`},
		{name: "active is gone", user: gone, err: "active_profile"},
		{name: "nothing known", err: "set HERMES_HOME"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var env []string
			if tc.env != "" {
				env = []string{"A=b", "HERMES_HOME=" + tc.env}
			}
			p, err := Home(strings.Fields(tc.args), env, tc.user)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("err = %v", err)
				}
				return
			}
			if err != nil || p.Dir != tc.dir || p.Root != tc.root || strings.Join(p.Args, " ") != tc.rest {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

func TestCreateHome(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "deep", "home")
	if err := CreateHome(home, nil, map[string]string{"SOUL.md": "me"}); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{".", "cron", "logs/curator", "memories"} {
		if st, err := os.Stat(filepath.Join(home, d)); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", d, st, err)
		}
	}
	os.WriteFile(filepath.Join(home, "SOUL.md"), []byte("mine"), 0o644)
	if err := CreateHome(home, nil, map[string]string{"SOUL.md": "me"}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(home, "SOUL.md")); string(b) != "mine" {
		t.Errorf("SOUL.md rewritten: %q", b)
	}
	other := filepath.Join(t.TempDir(), "h")
	if err := CreateHome(other, vars(map[string]string{"HERMES_HOME_MODE": "0750"}), nil); err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Stat(other); st.Mode().Perm() != 0o750 {
		t.Error(st.Mode())
	}
	file := filepath.Join(t.TempDir(), "f")
	os.WriteFile(file, nil, 0o600)
	if err := CreateHome(filepath.Join(file, "h"), nil, nil); err == nil || !strings.Contains(err.Error(), "set HERMES_HOME") {
		t.Error(err)
	}
}
