//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hermes-go/hermes/internal/fakemodel"
)

// screen is the program in a real terminal.
type screen struct {
	t      *testing.T
	socket string
	home   string
	steps  int
}

// onScreen starts the program in tmux with a home of its own.
func onScreen(t *testing.T, environ []string, args ...string) *screen {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal("tmux is needed for this test; make setup installs it")
	}
	dir := t.TempDir()
	s := &screen{t: t, socket: filepath.Join(dir, "tmux"), home: filepath.Join(dir, "home")}
	argv := append([]string{
		"-S", s.socket, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "env", "-i", "TERM=tmux-256color", "LANG=C.UTF-8",
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "HERMES_HOME=" + s.home, "TMPDIR=" + dir,
	}, environ...)
	// A shell says how it ended (tmux itself does not always notice), and waits
	// for it when the screen goes away.
	argv = append(argv, "sh", "-c", `trap : HUP INT; "$0" "$@"; echo "status $?"; exec cat`, filepath.Join(binDir, "hermes"))
	argv = append(argv, args...)
	cmd := exec.Command(tmux, argv...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "-t", "0", "#{pane_pid}")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command(tmux, "-S", s.socket, "kill-server").Run() // it may have ended by itself
		for range 200 {                                             // its last words are files of the home
			if syscall.Kill(pid, 0) != nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	return s
}

func (s *screen) tmux(args ...string) string {
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Helper()
		s.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (s *screen) text() string {
	return s.tmux("capture-pane", "-p", "-S", "-200", "-t", "0")
}

// see waits until the screen shows a text.
func (s *screen) see(want string) {
	s.t.Helper()
	text := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(30 * time.Millisecond) {
		if text = s.text(); strings.Contains(text, want) {
			return
		}
	}
	s.t.Fatalf("the screen does not show %q:\n%s", want, text)
}

// step is one thing that a person does: types something and Enter.
func (s *screen) step(typed string) {
	s.t.Helper()
	s.steps++
	if typed != "" {
		s.tmux("send-keys", "-t", "0", "-l", typed)
	}
	s.tmux("send-keys", "-t", "0", "Enter")
}

// paste puts text in as a terminal does that was asked for bracketed paste.
func (s *screen) paste(text string) {
	s.tmux("set-buffer", text)
	s.tmux("paste-buffer", "-p", "-t", "0")
}

// localModel is a server such as people run on their machines.
func localModel(t *testing.T, replies ...fakemodel.Reply) *fakemodel.Server {
	m := fakemodel.New(t, replies...)
	m.Handle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/models") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"tiny-1"}]}`)
		return true
	})
	return m
}

// TestSetupToFirstAnswer goes from an empty home to an answer of a server on
// this machine, in at most five steps, the command included.
func TestSetupToFirstAnswer(t *testing.T) {
	t.Parallel()
	m := localModel(t, fakemodel.Text("The first answer."))
	s := onScreen(t, []string{"OLLAMA_HOST=" + strings.TrimPrefix(m.URL, "http://")}, "setup")
	s.steps = 1 // hermes setup
	s.see("Which model service?")
	s.see("(tiny-1)")
	s.step("")
	s.see("Start a conversation?")
	s.step("")
	s.see("tiny-1 · custom")
	s.step("hello")
	s.see("The first answer.")
	if s.steps > 5 {
		t.Errorf("it took %d steps", s.steps)
	}
	t.Logf("%d steps", s.steps)
	b, err := os.ReadFile(filepath.Join(s.home, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(b); !strings.Contains(text, "base_url: "+m.V1()) || !strings.Contains(text, "default: tiny-1") {
		t.Errorf("config.yaml:\n%s", text)
	}
}

// TestNothingSetUp: a conversation simply starts with the server found, and
// says so; nothing is written.
func TestNothingSetUp(t *testing.T) {
	t.Parallel()
	m := localModel(t, fakemodel.Text("Found without asking."))
	s := onScreen(t, []string{"OLLAMA_HOST=" + m.URL})
	s.see("nothing is set up; using tiny-1 of Ollama")
	s.see("/quit leaves") // the line is there to be typed on
	s.step("hello")
	s.see("Found without asking.")
	if _, err := os.Stat(filepath.Join(s.home, "config.yaml")); err == nil {
		t.Error("a choice was written that nobody made")
	}
}

// TestPasteKey: F-104, a paste with marks, quotes and white space works, is not
// shown, and is not held up; F-103, what is no key is said to be none.
func TestPasteKey(t *testing.T) {
	t.Parallel()
	refuses := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer gsk_pasted0123456789abcdef" {
			http.Error(w, `{"error":{"message":"bad key"}}`, http.StatusUnauthorized)
			return true
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"data":[{"id":"one"},{"id":"two"}]}`)
		return true
	}
	m := fakemodel.New(t)
	m.Handle(refuses)
	s := onScreen(t, []string{"GROQ_BASE_URL=" + m.V1()}, "setup", "model")
	s.see("Which model service?")
	s.tmux("send-keys", "-t", "0", "-l", "/groq")
	s.see("> Groq")
	s.tmux("send-keys", "-t", "0", "Enter")
	s.see("Groq API key")
	s.paste("gsk_wrong0123456789abcdef") // refused by the service
	s.step("")
	s.see("does not look right")
	s.see("refuses the key")
	s.step("")
	s.see("Groq API key")
	s.paste(strings.Repeat("gsk_junk", 43))
	s.step("")
	s.see("pasted")
	s.step("")
	s.see("Groq API key")
	s.paste("  export GROQ_API_KEY=\"gsk_pasted0123456789abcdef\"\n")
	s.see("****")
	s.step("")
	s.see("takes the key")
	s.see("Which model?")
	s.step("")
	s.see("is the model now")
	if strings.Contains(s.text(), "gsk_pasted") || strings.Contains(s.text(), "0123456789abcdef") {
		t.Errorf("the key was shown:\n%s", s.text())
	}
	b, err := os.ReadFile(filepath.Join(s.home, ".env"))
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != "GROQ_API_KEY=gsk_pasted0123456789abcdef\n" {
		t.Errorf(".env: %q", b)
	}
}

// TestPlainTerminal: without a terminal that can draw, lines do.
func TestPlainTerminal(t *testing.T) {
	t.Parallel()
	m := localModel(t)
	s := onScreen(t, []string{"TERM=dumb", "OLLAMA_HOST=" + m.URL}, "setup", "model")
	s.see("number (1):")
	s.step("")
	s.see("is the model now")
}

// TestSetupOffered: with nothing set up and nothing found, the program offers
// to set itself up and goes on to the conversation.
func TestSetupOffered(t *testing.T) {
	t.Parallel()
	m := localModel(t, fakemodel.Text("After all."))
	s := onScreen(t, nil)
	s.see("Set one up now?")
	s.step("")
	s.see("Which model service?")
	s.tmux("send-keys", "-t", "0", "-l", "/another")
	s.see("> Another address")
	s.tmux("send-keys", "-t", "0", "Enter")
	s.see("Address of the server")
	s.paste(" " + m.V1() + "/ ")
	s.step("")
	s.see("is the model now")
	s.see("tiny-1 · custom")
	s.step("hello")
	s.see("After all.")
}

// TestFallbackPicked: a fallback is chosen as the model is.
func TestFallbackPicked(t *testing.T) {
	t.Parallel()
	m := localModel(t)
	s := onScreen(t, []string{"OLLAMA_HOST=" + m.URL}, "fallback", "add")
	s.see("What is asked when the model fails?")
	s.step("")
	s.see("1. tiny-1 of custom at " + m.V1())
}

// TestLeaveSetup: Ctrl+C leaves with its exit code and nothing broken.
func TestLeaveSetup(t *testing.T) {
	t.Parallel()
	s := onScreen(t, nil, "setup", "model")
	s.see("Which model service?")
	s.tmux("send-keys", "-t", "0", "C-c")
	s.see("setup was left")
	s.see("status 130")
}
