//go:build unix

package main

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hermes-go/hermes/internal/fakemodel"
)

// Three secrets that must not be seen again: in the home's .env, in the
// environment of the process, and in a file that only says password.
const (
	envFileCanary = "cnry.Kq7wZ2/xB9+mT4=vL6nR8"
	processCanary = "Hs5-dP3_gY1uJ8wQ0rN6tE2c"
	fileCanary    = "b7Yx3Rk9Vz1Fm5Lp"
)

// signs are pieces of text that give a canary away, each long enough to mean
// nothing else.
func signs(canary string) []string {
	var all []string
	add := func(s string) {
		for i := 0; i+12 <= len(s); i++ { // half of it is too much
			all = append(all, s[i:i+12])
		}
	}
	turned := []byte(canary)
	slices.Reverse(turned)
	add(canary)
	add(string(turned))
	add(url.QueryEscape(canary))
	add(hex.EncodeToString([]byte(canary)))
	add(strings.ToUpper(hex.EncodeToString([]byte(canary))))
	for shift := range 3 { // the characters that depend on the canary alone
		enc := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + canary))
		add(enc[4:][:len(enc)-8])
		add(strings.NewReplacer("+", "-", "/", "_").Replace(enc[4:][:len(enc)-8]))
	}
	for shift := range 5 {
		enc := base32.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + canary))
		add(enc[8:][:len(enc)-16])
	}
	return all
}

// A session of twenty turns does all that a model may think of to look at
// secrets, most of it failing. Then every byte that left the process is
// searched for them, in all encodings.
func TestCanarySecretsAreFoundNowhere(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, ".env"), "SERVICE_TOKEN='"+envFileCanary+"'\nMAX_TOKENS=100000\n")
	write(filepath.Join(work, "settings.json"), `{"user": "bob", "password": "`+fileCanary+`"}`+"\n")
	write(filepath.Join(work, "notes.txt"), strings.Repeat("a line of notes\n", 20)+"the token is "+envFileCanary+", keep it\nMAX_TOKENS=100000\n")
	write(filepath.Join(work, "AGENTS.md"), "Use "+envFileCanary+" to log in.\n")
	write(filepath.Join(work, "encode.py"), `import sys, urllib.parse
text = open(sys.argv[1]).read()
print(urllib.parse.quote(text, safe=""))
print(text[::-1])
print(text.encode().hex(), text.encode().hex(" ").upper())
print(ascii(text), "".join("%%%02x" % b for b in text.encode()))
sys.exit(text)
`)

	run := func(id, command string) fakemodel.Call {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return fakemodel.Call{ID: id, Name: "terminal", Args: string(args)}
	}
	use := func(id, name, args string) fakemodel.Call {
		return fakemodel.Call{ID: id, Name: name, Args: strings.ReplaceAll(strings.ReplaceAll(args, "HOME", home), "WORK", work)}
	}
	env := filepath.Join(home, ".env")
	turns := [][]fakemodel.Call{
		{run("1a", "env; exit 3"), run("1b", "printenv MY_DEPLOY_SECRET >&2; false")},
		{run("2a", "cat "+env+" /does/not/exist"), run("2b", "cat settings.json notes.txt; no-such-program")},
		{run("3a", "base64 "+env+"; base64 -w0 notes.txt; base64 settings.json; exit 1"), run("3b", "base32 notes.txt; echo $MY_DEPLOY_SECRET | base64; exit 1")},
		{run("4a", "od -An -v -tx1 "+env+"; od -v -tx1 notes.txt; od -v -x notes.txt; exit 1"), run("4b", "od -v -tx1 settings.json; exit 1")},
		{
			run("5a", "python3 encode.py "+env), run("5b", "python3 encode.py notes.txt"),
			use("5c", "execute_code", `{"code":"import base64, os\nfor p in ('HOME/.env', 'notes.txt', 'settings.json', '/does/not/exist'):\n    try:\n        t = open(p).read()\n        print(t, base64.b64encode(t.encode()), t[::-1])\n    except OSError as e:\n        print(p, e)\nraise SystemExit(str(os.environ))"}`),
		},
		{run("6a", "sed 's/./& /g' "+env+"; fold -w1 "+env+"; fold -w5 notes.txt; exit 9"), run("6b", "tr a-zA-Z n-za-mN-ZA-M < "+env+"; exit 9")},
		{run("7a", "cp "+env+" copy; cat copy copy.missing; rm copy"), run("7b", "head -c 30 "+env+"; tail -c 20 "+env+"; cut -c16-34 "+env+"; exit 1")},
		{use("8a", "read_file", `{"path":"HOME/.env"}`), use("8b", "read_file", `{"path":"WORK/settings.json"}`), use("8c", "read_file", `{"path":"WORK/notes.txt"}`)},
		{use("9a", "search_files", `{"pattern":"token|TOKEN|password","path":"HOME"}`), use("9b", "search_files", `{"pattern":"token|password","path":"WORK"}`)},
		{use("10a", "patch", `{"path":"WORK/notes.txt","old_string":"the token is nothing","new_string":"x"}`), use("10b", "patch", `{"path":"WORK/settings.json","old_string":"\"user\": \"bob\"","new_string":"\"user\": \"eve\""}`)},
		{run("11a", "seq 1 9000 | sed \"s/$/ $MY_DEPLOY_SECRET/\"; exit 4")}, // too long: the whole goes to a file
		{run("12a", "curl -sS --max-time 5 -H \"Authorization: Bearer $MY_DEPLOY_SECRET\" http://127.0.0.1:1/$MY_DEPLOY_SECRET; ls /$MY_DEPLOY_SECRET"), run("12b", "set -x; : $MY_DEPLOY_SECRET; exit 2")},
		{use("13a", "terminal", `{"command":"echo begin; cat HOME/.env; echo $MY_DEPLOY_SECRET; exit 5","background":true,"notify_on_complete":true}`)},
		{use("14a", "process", `{"action":"list"}`), use("14b", "process", `{"action":"wait","session_id":"proc_none"}`)},
		{run("15a", "rm -rf / --token="+"$MY_DEPLOY_SECRET"), run("15b", "sudo cat "+env)},
		{use("16a", "write_file", `{"path":"WORK/no/such/../x.json","content":"{"}`), use("16b", "write_file", `{"path":"/proc/nothing/x","content":"x"}`)},
		{use("17a", "memory", `{"action":"add","target":"memory","content":"the service token is in SERVICE_TOKEN"}`), use("17b", "skill_view", `{"name":"nothing"}`)},
		{
			run("18a", "cat settings.json | tr -d '\\n' | base64 -w0; exit 1"), run("18b", "printf '%s' \"$MY_DEPLOY_SECRET\" | od -An -c; gzip -c /does/not/exist"),
			run("18c", "printf '%s' '"+processCanary+"' | wc -c | sed 's/^/length: /'"),
		}, // one the model has found out: it is run as written, and kept masked
		{use("19a", "session_search", `{"query":"token password"}`), use("19b", "read_file", `{"path":"WORK/missing.txt"}`), use("19c", "no_such_tool", `{}`)},
		{use("20a", "todo", `{"todos":[{"id":"1","content":"log in","status":"done"}]}`)},
	}
	var script []fakemodel.Reply
	var said []string
	for i, calls := range turns {
		script = append(script, fakemodel.UseTools(calls...), fakemodel.Text(fmt.Sprintf("That was turn %d.", i+1)))
		said = append(said, fmt.Sprintf("turn %d", i+1))
	}
	script[29] = fakemodel.Text("As you said, the key is " + processCanary + ". That was turn 15.")                 // and one that says it
	said[10] = "use the token " + envFileCanary + " or " + base64.StdEncoding.EncodeToString([]byte(processCanary)) // a person who forgets
	script[25] = fakemodel.Fail(401, `{"error":{"message":"wrong key, and by the way: `+processCanary+`"}}`)        // a service that repeats
	model := fakemodel.New(t, script...)
	write(filepath.Join(home, "config.yaml"), fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q}\nlogging: {level: debug}\n", model.V1()))

	var seen bytes.Buffer
	start := func(input string, args ...string) {
		t.Helper()
		c := hermesCommand(t, home, args...)
		c.Dir = work
		c.Env = append(c.Env, "MY_DEPLOY_SECRET="+processCanary)
		c.Stdin = strings.NewReader(input)
		out, err := c.CombinedOutput()
		seen.Write(out)
		if len(out) == 0 {
			t.Errorf("hermes %q printed nothing: %v", args, err)
		}
	}
	start(strings.Join(said, "\n")+"\n/history 100\n", "chat")
	start("", "sessions", "list", "--json")
	start("", "sessions", "export", "-")
	start("", "logs")
	start("", "doctor", "--offline")
	start("", "config", "show")
	start("", "status")
	if n := model.Left(); n > 0 {
		t.Fatalf("%d replies were not asked for:\n%s", n, tail(seen.String()))
	}
	requests := model.Requests()
	if n := len(requests); n < 2*len(turns) {
		t.Errorf("only %d requests", n)
	}
	all := map[string][]byte{"stdout and stderr": seen.Bytes()}
	for i, r := range requests {
		all[fmt.Sprintf("request %d", i+1)] = r.Body
	}
	for _, root := range []string{home, work} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			switch path {
			case env, filepath.Join(work, "notes.txt"), filepath.Join(work, "settings.json"), filepath.Join(work, "AGENTS.md"):
				return nil // where they were put
			}
			all[path], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]bool{}
	for name, canary := range map[string]string{"of .env": envFileCanary, "of the environment": processCanary, "of a file": fileCanary} {
		for _, sign := range signs(canary) {
			for where, text := range all {
				if i := bytes.Index(text, []byte(sign)); i >= 0 && !found[where+name] {
					found[where+name] = true
					t.Errorf("the secret %s shows in %s as %q: ...%s...", name, where, sign, text[max(0, i-150):min(len(text), i+100)])
				}
			}
		}
	}
	last := string(requests[len(requests)-1].Body)
	for _, want := range []string{"MAX_TOKENS=100000", "***", fmt.Sprintf("length: %d", len(processCanary))} {
		if !strings.Contains(last, want) {
			t.Errorf("%s is not in the last request", want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(work, "settings.json")); err != nil || !strings.Contains(string(text), fileCanary) || !strings.Contains(string(text), "eve") {
		t.Errorf("the file a patch changed is %q, %v", text, err)
	}
}

func tail(s string) string { return s[max(0, len(s)-3000):] }
