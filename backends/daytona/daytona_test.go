//go:build !windows

package daytona

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/backend/backendtest"
)

// service stands in for Daytona: the documented requests, commands run here.
type service struct {
	t    *testing.T
	home string

	mu    sync.Mutex
	state string // of the one sandbox; "": there is none
	log   []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r.Method+" "+r.URL.Path)
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	if r.Header.Get("Authorization") != "Bearer key" {
		http.Error(w, `{"message":"no"}`, http.StatusUnauthorized)
		return
	}
	one := map[string]any{"id": "sb1", "state": s.state}
	switch r.Method + " " + r.URL.Path {
	case "GET /sandbox":
		if s.state == "" {
			answer([]any{})
			return
		}
		answer([]any{one})
	case "POST /sandbox":
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["disk"] != 10.0 || body["memory"] != 5.0 || body["autoStopInterval"] != 0.0 {
			s.t.Errorf("made of %v, %v", body, err)
		}
		s.state = "started"
		answer(map[string]any{"id": "sb1", "state": "creating"})
	case "GET /sandbox/sb1":
		answer(one)
	case "POST /sandbox/sb1/start":
		s.state = "started"
	case "POST /sandbox/sb1/stop":
		s.state = "stopped"
	case "POST /toolbox/sb1/toolbox/files/upload":
		f, _, err := r.FormFile("file")
		if err != nil {
			s.t.Error(err)
			return
		}
		b, err := io.ReadAll(f)
		if err == nil {
			err = os.WriteFile(r.URL.Query().Get("path"), b, 0o600)
		}
		if err != nil {
			s.t.Error(err)
		}
	case "POST /toolbox/sb1/toolbox/process/execute":
		var body struct {
			Command string
			Timeout int
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Timeout <= 0 {
			s.t.Errorf("asked for %+v, %v", body, err)
		}
		if strings.Contains(body.Command, "passed") {
			s.t.Error("a value stands on a command line")
		}
		cmd := exec.Command("sh", "-c", body.Command)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}
		cmd.Dir = "/"
		out, _ := cmd.CombinedOutput()
		answer(map[string]any{"exitCode": cmd.ProcessState.ExitCode(), "result": string(out)})
	default:
		http.NotFound(w, r)
	}
}

func lab(t *testing.T) (*service, func() env) {
	s := &service{t: t, home: t.TempDir()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, func() env {
		e, err := open(backend.Options{
			Task: "t", Passed: func() []string { return []string{"MY_V=passed"} },
			Decode: func(into any) error { into.(*settings).Disk = 51200; return nil },
			Lookup: func(name string) string { return map[string]string{keyName: "key", urlName: server.URL}[name] },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close(context.Background()) })
		return e
	}
}

// TestShape holds the requests and what comes of them; no account was used.
func TestShape(t *testing.T) {
	t.Parallel()
	s, open := lab(t)
	e := open()
	for _, c := range []struct {
		script, want string
		code         int
	}{
		{"echo ${MY_V:-MISSING}", "passed\n", 0}, // F-053
		{"cd /usr; export A='two\nlines'; echo err >&2; exit 3", "err\n", 3},
		{`pwd; echo "$A"`, "/usr\ntwo\nlines\n", 0},
		{"cat; echo $?", "0\n", 0},
		{"printf 'no line break'", "no line break", 0},
	} {
		if got, exit := backendtest.Shell(t, e, c.script); got != c.want || exit.Code != c.code {
			t.Errorf("%s: got %q, %+v", c.script, got, exit)
		}
	}
	if got, _ := backendtest.Run(t, e, backend.Cmd{Script: "cat", Stdin: strings.NewReader("given")}); got != "given" {
		t.Errorf("with input: %q", got)
	}
	if _, err := e.Exec(t.Context(), backend.Cmd{Script: "true", Dir: "/no/such/directory"}); err == nil {
		t.Error("ran in a directory that does not exist")
	}
	if _, err := e.Spawn(t.Context(), backend.Cmd{Script: "true"}, backend.SpawnOptions{}); err == nil {
		t.Error("ran beside others")
	}
	if err := e.Close(t.Context()); err != nil || s.state != "stopped" {
		t.Errorf("closed: %v, it is %s", err, s.state)
	}
	if got, _ := backendtest.Shell(t, open(), "echo again"); got != "again\n" || strings.Count(strings.Join(s.log, "\n"), "POST /sandbox\n") != 1 {
		t.Errorf("come back: %q by %q", got, s.log)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	_, open := lab(t)
	backendtest.Files(t, open(), t.TempDir())
}

func TestRefused(t *testing.T) {
	t.Parallel()
	if _, err := open(backend.Options{}); err == nil || !strings.Contains(err.Error(), keyName) {
		t.Errorf("without a key: %v", err)
	}
	server := httptest.NewServer(&service{t: t})
	defer server.Close()
	e, err := open(backend.Options{Lookup: func(name string) string { return map[string]string{keyName: "wrong", urlName: server.URL}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Exec(t.Context(), backend.Cmd{Script: "true"}); err == nil || !strings.Contains(err.Error(), "daytona answers 401: no") {
		t.Errorf("with a wrong key: %v", err)
	}
}
