//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/store"
)

// pane is the program in a real terminal: a server of tmux for this test alone.
type pane struct {
	t      *testing.T
	socket string
	home   string
}

var panes atomic.Int64

// openPane starts the program with a home; extra variables come as NAME=value.
func openPane(t *testing.T, home string, env []string, args ...string) *pane {
	t.Helper()
	return openPaneIn(t, home, home, env, args...)
}

// openPaneIn starts it in a directory.
func openPaneIn(t *testing.T, dir, home string, env []string, args ...string) *pane {
	t.Helper()
	p := &pane{t: t, socket: fmt.Sprintf("hermes-%d-%d", os.Getpid(), panes.Add(1)), home: home}
	env = append([]string{"HOME=" + home, "HERMES_HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + home, "TERM=xterm-256color"}, env...)
	words := append([]string{"exec", "env", "-i"}, env...)
	words = append(append(words, filepath.Join(binDir, "hermes")), args...)
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	words[0] = "exec"
	script := "(" + strings.Join(words, " ") + `); echo "EXIT $?"; exec cat`
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "40", "-c", dir, script)
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", p.socket, "kill-server").Run() })
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-L", p.socket}, args...)...)
	cmd.Env = append(os.Environ(), "SHELL=/bin/sh") // the user's own may be nologin
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys types: words are text, Enter and the like are keys.
func (p *pane) keys(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, keys...)...)
}

// text is the screen with its scrollback.
func (p *pane) text() string {
	p.t.Helper()
	lines := strings.Split(p.tmux("capture-pane", "-p", "-J", "-S", "-"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// until looks at the screen until it is as wanted.
func (p *pane) until(what string, ok func(screen string) bool) {
	p.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		screen := p.text()
		if ok(screen) {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("waited in vain for %s; the screen shows:\n%s", what, screen)
		}
		<-time.After(10 * time.Millisecond) // tmux tells nobody when something was drawn
	}
}

// leave ends the program, so that nothing writes to its home any more.
func (p *pane) leave() {
	p.t.Helper()
	p.ready()
	p.keys("C-d")
	p.shows("EXIT 0")
}

// shows waits for a text.
func (p *pane) shows(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("%q", text), func(s string) bool { return strings.Contains(s, text) })
}

// ready waits for an empty input line.
func (p *pane) ready() {
	p.t.Helper()
	p.until("the input line", func(s string) bool {
		lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
		n := len(lines)
		return n > 1 && strings.TrimRight(lines[n-2], " ") == "›" && !strings.Contains(s, "Ctrl+C interrupts\n")
	})
}

func (p *pane) once(text string) {
	p.t.Helper()
	if s := p.text(); strings.Count(s, text) != 1 {
		p.t.Errorf("%q is there %d times:\n%s", text, strings.Count(s, text), s)
	}
}

// modelHome is a home that talks to a scripted model.
func modelHome(t *testing.T, config string, replies ...fakemodel.Reply) (string, *fakemodel.Server) {
	t.Helper()
	s := fakemodel.New(t, replies...)
	home := t.TempDir()
	text := fmt.Sprintf("model: {provider: custom, default: fake, base_url: %q, context_length: 100000}\n%s", s.V1(), config)
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, s
}

// said lists what the user said in a request.
func said(r fakemodel.Request) []string {
	var all []string
	for _, m := range r.Messages() {
		if m.Role == chat.User {
			all = append(all, m.Content.String())
		}
	}
	return all
}

func TestChatTalks(t *testing.T) {
	t.Parallel()
	home, model := modelHome(t, "", fakemodel.Text("# Greeting\n\nHello **world**, 你好 🎉.\n\n```go\nx := 1\n```\n"), fakemodel.Text("second answer"))
	p := openPane(t, home, nil)
	p.ready()
	p.keys("first line", "M-Enter", "second line", "C-j", "third", "Enter")
	p.shows("x := 1")
	p.ready()
	p.once("Hello world, 你好 🎉.")
	if got := said(model.Requests()[0]); len(got) != 1 || got[0] != "first line\nsecond line\nthird" {
		t.Errorf("the model was told %q", got)
	}
	p.keys("Up", "Enter") // the last message again
	p.shows("second answer")
	p.ready()
	p.keys("C-d")
	p.shows("Go on with: hermes --resume")
	p.shows("EXIT 0")

	// The history lives on.
	p = openPane(t, home, nil, "--provider", "offline")
	p.ready()
	p.keys("Up")
	p.shows("› first line\n  second line\n  third\n")
	p.keys("C-c", "C-c")
	p.shows("EXIT 0")
	if info, err := os.Stat(filepath.Join(home, ".hermes_history")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("history file: %v, %v", info, err)
	}
}

func TestChatInterrupts(t *testing.T) {
	t.Parallel()
	home, model := modelHome(t, "", fakemodel.Reply{Chunks: []string{"This answer\n\nnever ", "ends"}, Text: "This answer\n\nnever ends", Hang: true, After: 2}, fakemodel.Text("Here I am."))
	p := openPane(t, home, nil)
	p.ready()
	p.keys("hang", "Enter")
	p.shows("never")
	p.keys("C-c")
	p.shows("interrupted\n")
	p.ready()
	p.keys("and now?", "Enter")
	p.shows("Here I am.")
	p.ready()
	if got := said(model.Requests()[1]); len(got) != 1 || got[0] != "hang\n\nand now?" { // joined: nothing stands between them
		t.Errorf("the model was told %q", got)
	}
	p.keys("some text", "C-c") // clears the line
	p.ready()
	p.keys("C-c")
	p.shows("EXIT 0")
}

// TestChatBusy: what is typed while a turn runs is not lost.
func TestChatBusy(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string][]string{
		"queue":     {"one", "two", "three"},
		"interrupt": {"one\n\ntwo"},
		"steer":     {"one"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			gate := make(chan struct{})
			first := fakemodel.Reply{Text: "first answer", Calls: []fakemodel.Call{{Name: "todo", Args: "{}"}}, Gate: gate}
			if mode == "queue" {
				first.Calls = nil
			}
			home, model := modelHome(t, "display: {busy_input_mode: "+mode+"}\n", first, fakemodel.Text("second answer"), fakemodel.Text("third answer"))
			p := openPane(t, home, nil)
			p.ready()
			p.keys("one", "Enter")
			p.until("the request", func(string) bool { return len(model.Requests()) == 1 })
			p.keys("two", "Enter")
			switch mode {
			case "queue":
				p.shows("queued: two")
				p.keys("three", "Enter")
				p.shows("queued: three")
				close(gate)
				p.shows("third answer")
			case "steer":
				p.shows("told the running turn: two")
				close(gate)
				p.shows("second answer")
			default:
				p.shows("second answer")
				close(gate)
			}
			p.ready()
			all := model.Requests()
			last := all[len(all)-1]
			if got := said(last); strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("the model was told %q, want %q", got, want)
			}
			if mode == "steer" && !strings.Contains(string(last.Body), "User guidance: two") {
				t.Errorf("the remark is not in %s", last.Body)
			}
			p.leave()
		})
	}
}

func TestChatApproval(t *testing.T) {
	t.Parallel()
	run := fakemodel.UseTool("terminal", `{"command":"rm -rf /etc/nothing-here-at-all"}`)
	home, model := modelHome(t, "", run, fakemodel.Text("It ran."), run, fakemodel.Text("It did not."))
	p := openPane(t, home, nil)
	p.ready()
	p.keys("clean up", "Enter")
	p.shows("[o]nce, [s]ession, [a]lways, [d]eny")
	p.shows("    rm -rf /etc/nothing-here-at-all")
	p.keys("perhaps", "Enter") // is no answer
	p.shows("please answer with one of the letters")
	p.keys("o", "Enter")
	p.shows("It ran.")
	p.ready()
	p.keys("once more", "Enter")
	p.until("the second question", func(s string) bool {
		return strings.Count(s, "Approval needed") == 2 && strings.HasSuffix(s, "deny):\n")
	})
	p.keys("C-c") // turns the question away, not the turn
	p.shows("It did not.")
	p.ready()
	results := map[string]bool{}
	for _, m := range model.Requests()[3].Messages() {
		if m.Role == chat.Tool {
			results[m.ToolCallID] = strings.Contains(m.Content.String(), `"exit_code":0`)
		}
	}
	ran := 0
	for _, ok := range results {
		if ok {
			ran++
		}
	}
	if len(results) != 2 || ran != 1 {
		t.Errorf("results: %v", results)
	}
	p.leave()
}

// TestChatUndo: what was taken back is gone from the model's view, from the
// export, and after a restart (cases 70, F-139, F-140).
func TestChatUndo(t *testing.T) {
	t.Parallel()
	home, model := modelHome(t, "", fakemodel.Text("answer one"), fakemodel.Text("answer two"), fakemodel.Text("answer three"), fakemodel.Text("answer four"))
	p := openPane(t, home, nil)
	p.ready()
	for _, m := range []string{"one", "two"} {
		p.keys("message "+m, "Enter")
		p.shows("answer " + m)
		p.ready()
	}
	p.keys("/undo", "Enter")
	p.shows("Took back 2 messages, from “message two” on.")
	p.keys("message three", "Enter")
	p.shows("answer three")
	p.ready()
	if got := strings.Join(said(model.Requests()[2]), "|"); got != "message one|message three" {
		t.Errorf("the model was told %q", got)
	}
	p.keys("/titel x", "Enter")
	p.shows("there is no command /titel; did you mean /title?")
	p.keys("/ti The first one", "Enter") // a beginning that fits one
	p.shows("Title: The first one")
	p.keys("/new", "Enter")
	p.shows("A new conversation; the old one is kept")
	p.keys("message four", "Enter")
	p.shows("answer four")
	p.ready()
	if got := strings.Join(said(model.Requests()[3]), "|"); got != "message four" {
		t.Errorf("after /new the model was told %q", got)
	}
	p.keys("/quit", "Enter")
	p.shows("EXIT 0")
	if n := len(model.Requests()); n != 4 {
		t.Errorf("%d requests: a command went to the model", n)
	}

	p = openPane(t, home, nil, "--resume", "The first one")
	p.ready()
	p.shows("going on with 4 messages")
	p.shows("message three")
	if s := p.text(); strings.Contains(s, "message two") {
		t.Errorf("what was undone is back:\n%s", s)
	}
	p.keys("/quit", "Enter")
	p.shows("EXIT 0")
	out, err := hermesCommand(t, home, "sessions", "show", "--json", "The first one").Output()
	if err != nil || strings.Contains(string(out), "message two") || !strings.Contains(string(out), "answer three") {
		t.Errorf("exported: %s, %v", out, err)
	}
}

func TestChatCommands(t *testing.T) {
	t.Parallel()
	home, model := modelHome(t, "", fakemodel.Reply{Text: "answer one", Usage: &fakemodel.Usage{Input: 1000, Output: 20, CacheRead: 250}}, fakemodel.Text("answer again"), fakemodel.Text("answer in the copy"))
	p := openPane(t, home, nil)
	p.ready()
	p.keys("/usage", "Enter")
	p.shows("nothing has been said yet")
	p.keys("message one", "Enter")
	p.shows("answer one")
	p.ready()
	p.keys("/usage", "Enter")
	p.shows("250 tokens, 25 % of what was sent")
	p.keys("/retry", "Enter")
	p.shows("Asking again: “message one”")
	p.shows("answer again")
	p.ready()
	if got := strings.Join(said(model.Requests()[1]), "|"); got != "message one" {
		t.Errorf("/retry sent %q", got)
	}
	p.keys("/branch", "Enter")
	p.shows("This is a copy now")
	p.keys("message two", "Enter")
	p.shows("answer in the copy")
	p.ready()
	p.keys("/model --provider offline", "Enter")
	p.shows("Now offline on offline")
	p.keys("/save", "Enter")
	p.shows("Wrote 4 messages to")
	p.keys("/clear", "Enter")
	p.until("an empty screen", func(s string) bool { return !strings.Contains(p.tmux("capture-pane", "-p"), "message one") })
	p.keys("/resume", "Enter")
	p.shows("Go on with one by /resume ID")
	p.keys("/quit", "Enter")
	p.shows("EXIT 0")

	saved, err := filepath.Glob(filepath.Join(home, "sessions", "saved", "hermes_conversation_*.json"))
	if err != nil || len(saved) != 1 {
		t.Fatal(saved, err)
	}
	if b, err := os.ReadFile(saved[0]); err != nil || !strings.Contains(string(b), "answer in the copy") {
		t.Errorf("saved: %s, %v", b, err)
	}
	db, err := store.Open(filepath.Join(home, "state.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := db.List(t.Context(), store.Filter{})
	if err != nil || len(list) != 2 || list[0].Parent != list[1].ID || list[1].EndReason != store.EndBranched {
		t.Errorf("sessions: %+v, %v", list, err)
	}
}

func TestChatCompletes(t *testing.T) {
	t.Parallel()
	home, model := modelHome(t, "", fakemodel.Text("answer"))
	if err := os.MkdirAll(filepath.Join(home, "some dir", "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report-2024.txt", "report-2025.txt"} {
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := openPane(t, home, nil)
	p.ready()
	p.keys("/us") // the command shows itself
	p.shows("tokens, cache hits and the context")
	p.keys("Tab", "Enter")
	p.shows("› /usage")
	p.ready()
	p.keys("/rea", "Tab", "sh", "Tab", "Enter")
	p.shows("thinking is shown")
	p.ready()
	p.keys("compare ./rep", "Tab")
	p.shows("› compare ./report-202")
	p.shows("  ./report-2025.txt")
	p.keys("Tab", "Tab", "Enter")
	p.shows("answer")
	if got := said(model.Requests()[0]); got[0] != "compare ./report-2025.txt" {
		t.Errorf("the model was told %q", got)
	}
	p.leave()
}

// TestChatPaste: a large paste is one word in the line, and sent whole.
func TestChatPaste(t *testing.T) {
	t.Parallel()
	home, model := modelHome(t, "", fakemodel.Text("answer"))
	p := openPane(t, home, nil)
	p.ready()
	big := strings.TrimSpace(strings.Repeat("a line of a log\n", 500))
	file := filepath.Join(home, "paste")
	if err := os.WriteFile(file, []byte(big), 0o600); err != nil {
		t.Fatal(err)
	}
	p.keys("look:", "Space")
	p.tmux("load-buffer", file)
	p.tmux("paste-buffer", "-p")
	p.shows("› look: [pasted 500 lines]")
	p.keys("Enter")
	p.shows("answer")
	if got := said(model.Requests()[0]); got[0] != "look: "+big {
		t.Errorf("the model was told %d bytes, want %d", len(got[0]), len("look: "+big))
	}
	p.leave()
}

// TestChatRetries: text that comes a second time is shown once, and the rest
// of an answer that broke off goes on where it was.
func TestChatRetries(t *testing.T) {
	t.Parallel()
	text := "The first paragraph.\n\nThe second paragraph.\n\nThe third one."
	home, model := modelHome(t, "",
		fakemodel.Reply{Text: text, Calls: []fakemodel.Call{{Name: "todo", Args: `{"todos": [`}}, Finish: "length"}, fakemodel.Text(text),
		fakemodel.CutAfter(3, fakemodel.Reply{Chunks: []string{"Fourth.\n\nFif", "th.\n\nSixth."}}), fakemodel.Text("th.\n\nSixth."))
	p := openPane(t, home, nil)
	p.ready()
	p.keys("go", "Enter")
	p.shows("trying again")
	p.shows("The third one.")
	p.ready()
	for _, part := range strings.Split(text, "\n\n") {
		p.once(part)
	}
	if n := len(model.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	p.keys("more", "Enter")
	p.shows("Sixth.")
	p.ready()
	p.once("Fourth.")
	p.once("Fifth.")
	p.leave()
}

// TestChatResizes: the input line is there once, whatever the width. (On a
// screen that is not full, tmux itself moves lines out of reach.)
func TestChatResizes(t *testing.T) {
	t.Parallel()
	home, _ := modelHome(t, "", fakemodel.Text(strings.Repeat("line\n", 60)))
	p := openPane(t, home, nil)
	p.ready()
	p.keys("go", "Enter")
	p.until("the answer", func(s string) bool { return strings.Count(s, "line\n") == 60 })
	p.ready()
	words := strings.TrimSpace(strings.Repeat("word ", 25))
	p.keys(words)
	for _, width := range []int{80, 50, 33, 100, 41, 80} {
		p.tmux("resize-window", "-x", fmt.Sprint(width), "-y", "30")
		first := strings.TrimSpace(words[:width-3]) + "\n" // the last column stays free
		p.until(fmt.Sprint("the line at ", width), func(s string) bool {
			return strings.Contains(s, "› "+first) && strings.Count(strings.Join(strings.Fields(s), ""), "word") == 25 && strings.Count(s, "⚕") == 1
		})
	}
	p.keys("C-l")
	p.until("a clean screen", func(string) bool {
		s := p.tmux("capture-pane", "-p")
		return strings.HasPrefix(strings.TrimLeft(s, "\n"), "› word") && !strings.Contains(s, "line\n")
	})
	p.keys("C-u")
	p.leave()
}

func TestChatPlain(t *testing.T) {
	t.Parallel()
	reply := fakemodel.Text("Some **bold** words.\n")
	home, _ := modelHome(t, "", reply, reply)
	p := openPane(t, home, []string{"NO_COLOR=1"})
	p.ready()
	p.keys("go", "Enter")
	p.shows("Some bold words.")
	if s := p.tmux("capture-pane", "-p", "-e"); strings.Contains(s, "\x1b[") {
		t.Errorf("NO_COLOR, and yet: %q", s)
	}
	p.ready()
	p.keys("C-d")
	p.shows("EXIT 0")

	p = openPane(t, home, []string{"TERM=dumb"})
	p.shows("›")
	p.keys("go", "Enter")
	p.shows("Some **bold** words.")
	if s := p.tmux("capture-pane", "-p", "-e"); strings.Contains(s, "\x1b[") {
		t.Errorf("TERM=dumb, and yet: %q", s)
	}
	p.keys("/help quit", "Enter")
	p.shows("/quit: leave")
	p.keys("/quit", "Enter")
	p.shows("EXIT 0")
}

// TestChatSecret: a password is asked for where everything is typed, and never
// shown, remembered or sent.
func TestChatSecret(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root needs no sudo")
	}
	t.Parallel()
	home, model := modelHome(t, "approvals: {mode: 'off'}\n", fakemodel.UseTool("terminal", `{"command":"sudo ./check"}`), fakemodel.Text("It ran."))
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	sudo := "#!/bin/sh\nif [ -n \"$SUDO_ASKPASS\" ]; then \"$SUDO_ASKPASS\" | wc -c; else echo no askpass; exit 1; fi\n"
	if err := os.WriteFile(filepath.Join(bin, "sudo"), []byte(sudo), 0o700); err != nil {
		t.Fatal(err)
	}
	p := openPane(t, home, []string{"PATH=" + bin + ":" + os.Getenv("PATH")})
	p.ready()
	p.keys("go", "Enter")
	p.shows("Password for sudo")
	p.keys("hunter2-and-more")
	p.keys("Enter")
	p.shows("It ran.")
	p.leave()
	if s := p.text(); strings.Contains(s, "hunter2") {
		t.Errorf("the password is on the screen:\n%s", s)
	}
	for _, r := range model.Requests() {
		if strings.Contains(string(r.Body), "hunter2") {
			t.Error("the password was sent to the model")
		}
	}
	if b, err := os.ReadFile(filepath.Join(home, ".hermes_history")); err != nil || strings.Contains(string(b), "hunter2") {
		t.Errorf("the history holds %q, %v", b, err)
	}
}

// TestChatForced: a turn that does not stop is left at the second Ctrl+C.
func TestChatForced(t *testing.T) {
	t.Parallel()
	home, _ := modelHome(t, "", fakemodel.UseTool("terminal", `{"command":"trap '' INT TERM HUP; echo on > started; while :; do sleep 0.1; done"}`))
	p := openPane(t, home, nil)
	p.ready()
	p.keys("go", "Enter")
	p.until("the command", func(string) bool {
		_, err := os.Stat(filepath.Join(home, "started"))
		return err == nil
	})
	p.keys("C-c", "C-c")
	p.shows("EXIT 130")
}
