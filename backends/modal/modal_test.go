//go:build !windows

package modal

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
)

// gateway stands in for the one of Modal: the documented requests, commands
// run here.
type gateway struct {
	t    *testing.T
	home string

	mu    sync.Mutex
	done  map[string]execution
	ended map[string]any
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer token" {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	var body map[string]any
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			g.t.Error(err)
		}
	}
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	switch p := r.URL.Path; {
	case r.Method == http.MethodPost && p == "/v1/sandboxes":
		if r.Header.Get("x-idempotency-key") == "" || body["image"] != "img" || body["memoryMiB"] != 5120.0 || body["timeoutMs"] != 3600000.0 || body["logicalKey"] != "t" {
			g.t.Errorf("made of %v", body)
		}
		answer(map[string]string{"id": "sb"})
	case r.Method == http.MethodPost && p == "/v1/sandboxes/sb/execs":
		line, _ := body["command"].(string)
		if strings.Contains(line, "passed") {
			g.t.Error("a value stands on a command line")
		}
		cmd := exec.Command("bash", "-c", line)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.home}
		cmd.Dir, _ = body["cwd"].(string)
		in, _ := body["stdinData"].(string)
		cmd.Stdin = strings.NewReader(in)
		out, _ := cmd.CombinedOutput()
		id, _ := body["execId"].(string)
		g.done[id] = execution{Status: "completed", Output: string(out), ExitCode: cmd.ProcessState.ExitCode()}
		answer(execution{Status: "running"})
	case r.Method == http.MethodGet && strings.HasPrefix(p, "/v1/sandboxes/sb/execs/"):
		answer(g.done[path.Base(p)])
	case p == "/v1/sandboxes/sb/terminate":
		g.ended = body
	default:
		http.NotFound(w, r)
	}
}

// TestShape holds the requests and what comes of them; no account was used.
func TestShape(t *testing.T) {
	t.Parallel()
	g := &gateway{t: t, home: t.TempDir(), done: map[string]execution{}}
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	e, err := open(backend.Options{
		Task: "t", Passed: func() []string { return []string{"MY_V=passed"} },
		Decode: func(into any) error { into.(*settings).Image = "img"; return nil },
		Lookup: func(name string) string { return map[string]string{tokenName: "token", urlName: server.URL}[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	for _, c := range []struct {
		script, want string
		code         int
	}{
		{"echo ${MY_V:-MISSING}", "passed\n", 0}, // F-053
		{"cd /usr; export A=1; exit 3", "", 3},
		{"pwd; echo $A", "/usr\n1\n", 0},
	} {
		if got, exit := backendtest.Shell(t, e, c.script); got != c.want || exit.Code != c.code {
			t.Errorf("%s: got %q, %+v", c.script, got, exit)
		}
	}
	if err := e.Close(t.Context()); err != nil || g.ended["snapshotBeforeTerminate"] != true {
		t.Errorf("closed: %v, %v", err, g.ended)
	}
}

func TestNotSetUp(t *testing.T) {
	t.Parallel()
	has := func(names ...string) func(string) string {
		return func(name string) string {
			for _, n := range names {
				if n == name {
					return "x"
				}
			}
			return ""
		}
	}
	for want, o := range map[string]backend.Options{
		tokenName: {}, urlName: {Lookup: has(tokenName)},
		"direct is not built": {Decode: func(into any) error { into.(*settings).Mode = "direct"; return nil }},
		"credential_files":    {Lookup: has(tokenName, urlName), Decode: func(into any) error { into.(*settings).Creds = []string{"a"}; return nil }},
	} {
		if _, err := newSandbox(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if s, err := newSandbox(backend.Options{Lookup: has(tokenName, domainName)}); err != nil || s.base != "https://modal-gateway.x" {
		t.Errorf("got %+v, %v", s, err)
	}
}
