package skills

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const optional = "../optional-skills/"

// optionalAPIs are the scripts of skills for services that need keys: what the
// environment holds and what arrives at the service.
var optionalAPIs = map[string]struct {
	env          []string
	header, want string
	readOnly     bool
}{
	"devops/cloudflare":         {env: []string{"CLOUDFLARE_API_TOKEN=cf_1-x"}, header: "Authorization", want: "Bearer cf_1-x"},
	"devops/digitalocean":       {env: []string{"DIGITALOCEAN_TOKEN=dop_v1_a"}, header: "Authorization", want: "Bearer dop_v1_a"},
	"devops/hetzner":            {env: []string{"HCLOUD_TOKEN=abcXYZ"}, header: "Authorization", want: "Bearer abcXYZ"},
	"devops/sentry":             {env: []string{"SENTRY_AUTH_TOKEN=sntryu_1"}, header: "Authorization", want: "Bearer sntryu_1", readOnly: true}, // but for PUT
	"payments/stripe":           {env: []string{"STRIPE_API_KEY=rk_live_1"}, header: "Authorization", want: "Basic cmtfbGl2ZV8xOg==", readOnly: true},
	"productivity/airtable":     {env: []string{"AIRTABLE_API_KEY=pat1.a/b="}, header: "Authorization", want: "Bearer pat1.a/b="},
	"productivity/deepl":        {env: []string{"DEEPL_AUTH_KEY=1-2:fx"}, header: "Authorization", want: "DeepL-Auth-Key 1-2:fx"},
	"productivity/jira":         {env: []string{"JIRA_BASE_URL=https://e.example/", "JIRA_USER=a@b.c", "JIRA_API_TOKEN=ATATT3x=1"}, header: "Authorization", want: "Basic YUBiLmM6QVRBVFQzeD0x"},
	"productivity/todoist":      {env: []string{"TODOIST_API_TOKEN=0a1b"}, header: "Authorization", want: "Bearer 0a1b"},
	"productivity/trello":       {env: []string{"TRELLO_API_KEY=k1", "TRELLO_TOKEN=ATTA2"}, header: "Authorization", want: `OAuth oauth_consumer_key="k1", oauth_token="ATTA2"`},
	"research/semantic-scholar": {env: []string{"S2_API_KEY=s2k"}, header: "x-api-key", want: "s2k"},
	"security/virustotal":       {env: []string{"VT_API_KEY=ff00"}, header: "x-apikey", want: "ff00", readOnly: true},
}

func TestOptionalAPIs(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(optional + "*/*/scripts/*")
	if err != nil || len(scripts) != len(optionalAPIs) {
		t.Fatalf("%d scripts, %d of them are tested: %v", len(scripts), len(optionalAPIs), err)
	}
	for skill, tt := range optionalAPIs {
		t.Run(skill, func(t *testing.T) {
			t.Parallel()
			script := optional + skill + "/scripts/api.sh"
			s := serve(t, map[string]string{"GET /a": `{"x": [1]}`, "POST /b": "{}", "GET /401": "401 who", "GET /429": "429 slow", "GET /500": "500 <html>broken</html>"})
			do := func(code int, stdin string, args []string, want ...string) {
				t.Helper()
				checkIn(t, tt.env, code, stdin, script, append([]string{"--api", s.URL}, args...), want...)
			}
			do(0, "", []string{"GET", "/a?q=%20[1]{x}&y"}, `{"x": [1]}`)
			got := s.last(t, "GET", "/a")
			if h := got.Header.Get(tt.header); h != tt.want {
				t.Errorf("%s is %q, want %q", tt.header, h, tt.want)
			}
			if got.URL.RawQuery != "q=%20[1]{x}&y" {
				t.Errorf("asked for %q", got.URL.RawQuery)
			}
			if tt.readOnly {
				do(2, "{}", []string{"POST", "/b", "-"}, "POST is not offered here")
			} else {
				do(0, `{"text": "é"}`, []string{"POST", "/b", "-"}, "{}")
				if got := s.last(t, "POST", "/b"); got.body != `{"text": "é"}` || got.Header.Get("Content-Type") != "application/json" {
					t.Errorf("sent %q as %q", got.body, got.Header.Get("Content-Type"))
				}
			}
			do(3, "", []string{"GET", "/401"}, "who\n", "refuses")
			do(1, "", []string{"GET", "/500"}, "<html>broken</html>", "answers 500")
		})
	}
	// The rest is one text; it is tried with one of them.
	script, env := optional+"devops/hetzner/scripts/api.sh", []string{"HCLOUD_TOKEN=k"}
	t.Run("what is common", func(t *testing.T) {
		t.Parallel()
		s := serve(t, map[string]string{"GET /429": "429 slow", "GET /away": "302 x"})
		for _, tt := range []struct {
			env  []string
			code int
			args []string
			want string
		}{
			{nil, 3, []string{"GET", "/a"}, "HCLOUD_TOKEN is not set"},
			{[]string{"HCLOUD_TOKEN=a\"\nurl = \"http://x"}, 3, []string{"GET", "/a"}, "holds a character that does not belong there"},
			{env, 2, []string{"GET"}, "usage: api.sh METHOD /PATH [FILE]"},
			{env, 2, []string{"BREW", "/a"}, "BREW is not offered here"},
			{env, 2, []string{"GET", "a"}, "the path begins with /"},
			{env, 2, []string{"GET", "/a b"}, "write blanks in the path as %20"},
			{env, 2, []string{"POST", "/a", "no-such-file"}, "there is no file no-such-file"},
			{env, 2, []string{"--api", "https://elsewhere.example", "GET", "/a"}, "for tests on this machine only"},
			{env, 2, []string{"--api", "http://127.0.0.1:80@elsewhere.example", "GET", "/a"}, "for tests on this machine only"},
			{env, 1, []string{"--api", closed(t), "GET", "/a"}, "hetzner was not reached"},
			{env, 1, []string{"--api", s.URL, "GET", "/429"}, "too many requests; wait a minute"},
			{env, 1, []string{"--api", s.URL, "GET", "/away"}, "answers 302"},
		} {
			_, stderr, code := runIn(t, tt.env, "", script, tt.args...)
			if code != tt.code || !strings.Contains(strings.ToLower(stderr), strings.ToLower(tt.want)) {
				t.Errorf("%q: exit %d, want %d with %q: %s", tt.args, code, tt.code, tt.want, stderr)
			}
		}
		checkIn(t, []string{"JIRA_BASE_URL=http://e.example", "JIRA_USER=a", "JIRA_API_TOKEN=b"}, 2, "", optional+"productivity/jira/scripts/api.sh", []string{"GET", "/a"}, "begins with https://")
	})
	t.Run("no key in a command line", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		fake := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + dir + "/args\ncat /dev/fd/3 >" + dir + "/config\nprintf 200\n"
		if err := os.WriteFile(filepath.Join(dir, "curl"), []byte(fake), 0o755); err != nil {
			t.Fatal(err)
		}
		checkIn(t, []string{"HCLOUD_TOKEN=topsecret", "PATH=" + dir + ":" + os.Getenv("PATH")}, 0, "", script, []string{"GET", "/servers"})
		args, err := os.ReadFile(filepath.Join(dir, "args"))
		if err != nil || strings.Contains(string(args), "topsecret") || !strings.Contains(string(args), "https://api.hetzner.cloud/v1/servers") {
			t.Errorf("curl was called with %s, %v", args, err)
		}
		if config, err := os.ReadFile(filepath.Join(dir, "config")); err != nil || string(config) != "header = \"Authorization: Bearer topsecret\"\n" {
			t.Errorf("curl was told %q, %v", config, err)
		}
	})
	t.Run("one text", func(t *testing.T) {
		t.Parallel()
		var first string
		for _, path := range scripts {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			head, rest, ok := strings.Cut(string(data), "# The rest is the same in every skill of this kind.\n")
			if !ok || first != "" && rest != first {
				t.Errorf("%s differs from the others below its first lines", path)
			}
			first = rest
			if slices.Contains(strings.Fields(head), "curl") {
				t.Errorf("%s calls curl by itself", path)
			}
		}
	})
}
