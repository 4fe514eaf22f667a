// Package executecode is the tool that runs a Python script which can call
// other tools. The script runs where the task's commands do, on this machine
// confined by the sandbox where the kernel can; its calls come back over named
// pipes, take the path that every call takes, and are limited in number. It
// runs no other language and keeps nothing between scripts.
package executecode

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/tool"
)

//go:embed executecode.md
var about string

var schema = json.RawMessage(`{
"type": "object",
"properties": {"code": {"type": "string", "description": "The Python script."}},
"required": ["code"]
}`)

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "execute_code", Toolset: "code_execution", Emoji: "🐍", About: about, Schema: schema,
		Needs:    []tool.Need{tool.Needs[backend.ScriptHost](), tool.Needs[tool.Dispatcher]()},
		Describe: describeFor,
	}, run))
}

// settingsOf are the session's limits; what makes no sense is the default.
func settingsOf(s *tool.Session) backend.ScriptSettings {
	d := backend.DefaultScriptSettings()
	host, err := tool.Use[backend.ScriptHost](s.Services)
	if err != nil {
		return d
	}
	o := host.ScriptSettings()
	if o.Timeout <= 0 {
		o.Timeout = d.Timeout
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = d.MaxCalls
	}
	return o
}

func describe(o backend.ScriptSettings, allowed []string) string {
	list := signatures(allowed)
	if list == "" {
		list = "(none: no tool that scripts may call is enabled)"
	}
	return strings.NewReplacer("TOOLS", list, "LIMIT", fmt.Sprint(o.Timeout), "CALLS", fmt.Sprint(o.MaxCalls)).Replace(about)
}

// describeFor names the tools that this session has.
func describeFor(s *tool.Session, names []string) *tool.Tool {
	var allowed []string
	for _, n := range Callable() {
		if slices.Contains(names, n) {
			allowed = append(allowed, n)
		}
	}
	return &tool.Tool{About: describe(settingsOf(s), allowed), Schema: schema}
}

type args struct {
	Code string `json:"code"`
}

// result is what the model reads.
type result struct {
	Status   string  `json:"status"` // success, error, timeout, interrupted
	Output   string  `json:"output"`
	Calls    int     `json:"tool_calls_made"`
	Duration float64 `json:"duration_seconds"`
	Error    string  `json:"error,omitempty"`
	Hint     string  `json:"hint,omitempty"`
	Note     string  `json:"note,omitempty"`
}

const (
	maxOutput = 50_000 // characters of what the script prints
	maxErrors = 10_000 // of what it complains about
)

func fail(reason string) error { return tool.Fail(result{Status: "error", Error: reason}, reason) }

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	if strings.TrimSpace(in.Code) == "" {
		return nil, fail("no code was given")
	}
	host, err := tool.Use[backend.ScriptHost](c.Session.Services)
	if err != nil {
		return nil, err
	}
	tools, err := tool.Use[tool.Dispatcher](c.Session.Services)
	if err != nil {
		return nil, err
	}
	place, err := host.ScriptPlace(ctx, c.Session.Key())
	if err != nil {
		return nil, fail("there is no place to run code: " + err.Error())
	}
	if place.Close != nil {
		defer place.Close()
	}
	if err := mayRun(ctx, c, place, in.Code); err != nil {
		return nil, err
	}
	if saver, err := tool.Use[files.Checkpoints](c.Session.Services); err == nil { // it may change whatever it reaches
		if dir, err := place.Env.Cwd(ctx); err == nil {
			saver.Before(ctx, c.Session.Key(), "before execute_code", dir)
		}
	}
	o := settingsOf(c.Session)
	s := &script{ctx: ctx, call: c, place: place, o: o}
	if err := s.prepare(in.Code); err != nil {
		return nil, fail(err.Error())
	}
	defer s.clean()
	return s.run(tools)
}

// mayRun asks before code runs that nothing holds back.
func mayRun(ctx context.Context, c *tool.Call, p backend.ScriptPlace, code string) error {
	if p.Confined {
		return nil
	}
	why := "a script can do whatever you can, and nothing holds it back: " + p.Why
	approver, err := tool.Use[ask.Approver](c.Session.Services)
	if err != nil {
		return tool.Fail(result{Status: "blocked", Error: "BLOCKED: " + why + "; nobody can be asked here. Do not retry it: use the tools themselves."}, why)
	}
	if err := approver.Approve(ctx, ask.Request{Kind: ask.Approval, Text: "Run this script?", Action: code, Reasons: []string{why}, Keys: []string{"execute_code"}}); err != nil {
		return tool.Fail(result{Status: "blocked", Error: err.Error() + " (" + why + ")"}, why)
	}
	return nil
}

// script is one on its way.
type script struct {
	ctx     context.Context
	call    *tool.Call
	place   backend.ScriptPlace
	files   backend.FileSystem
	o       backend.ScriptSettings
	dir     string // its own directory
	allowed []string
}

// prepare writes the script and the module into a directory of their own.
func (s *script) prepare(code string) error {
	fs, ok := s.place.Env.(backend.FileSystem)
	if !ok {
		return errors.New("this environment gives no direct access to its files, which scripts need")
	}
	s.files = fs
	for _, name := range Callable() {
		if s.call.Session.Enabled == nil || slices.Contains(s.call.Session.Enabled, name) {
			s.allowed = append(s.allowed, name)
		}
	}
	tmp, err := fs.TempDir(s.ctx)
	if err != nil {
		return fmt.Errorf("directory for the script: %w", err)
	}
	if tmp, err = fs.RealPath(s.ctx, tmp); err != nil {
		return fmt.Errorf("directory for the script: %w", err)
	}
	s.dir = path.Join(tmp, "hermes-code-"+strings.ToLower(rand.Text()[:12]))
	if _, err := s.sh(`mkdir -m 700 "$HERMES_RPC_DIR"`); err != nil {
		return fmt.Errorf("directory for the script: %w", err)
	}
	for name, text := range map[string]string{"script.py": code, "hermes_tools.py": generate(s.allowed)} {
		if err := fs.WriteFile(s.ctx, path.Join(s.dir, name), []byte(text), backend.WriteOptions{Mode: 0o600}); err != nil {
			s.clean()
			return fmt.Errorf("write the script: %w", err)
		}
	}
	return nil
}

// sh runs a small script of our own there.
func (s *script) sh(text string) (string, error) {
	var out bytes.Buffer
	exit, err := s.place.Env.Exec(s.ctx, backend.Cmd{Script: text, Env: []string{"HERMES_RPC_DIR=" + s.dir}, Output: &out, Timeout: time.Minute})
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("exit code %d: %s", exit.Code, strings.TrimSpace(out.String()))
	}
	return out.String(), err
}

func (s *script) clean() {
	s.ctx = context.WithoutCancel(s.ctx)
	_, _ = s.sh(`rm -rf "$HERMES_RPC_DIR"`) // a leftover is in the temporary directory
}

// runScript starts the script with the interpreter of the project, where there
// is one that is new enough. Complaints go to a file, so that they can be told
// from output.
const runScript = `export PYTHONPATH="$HERMES_RPC_DIR${PYTHONPATH:+:$PYTHONPATH}"
for p in "$VIRTUAL_ENV/bin/python" "$CONDA_PREFIX/bin/python" python3 python; do
	case $p in /bin/python) continue ;; esac
	[ "$HERMES_CODE_MODE" = strict ] && case $p in /*) continue ;; esac
	command -v "$p" >/dev/null 2>&1 || continue
	"$p" -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1 || continue
	unset HERMES_CODE_MODE
	exec "$p" -u "$HERMES_RPC_DIR/script.py" 2>"$HERMES_RPC_DIR/errors"
done
exit 126`

const noPython = "no Python 3.8 or newer was found where scripts run: install python3 there, or use terminal"

func (s *script) line() (line, func(), error) {
	if s.place.Here {
		l, err := newHere(s.dir)
		if err != nil {
			return nil, nil, err
		}
		return l, l.close, nil
	}
	l, err := newThere(s.ctx, s.place.Env, s.files, s.dir)
	if err != nil {
		return nil, nil, err
	}
	return l, l.close, nil
}

func (s *script) run(tools tool.Dispatcher) (any, error) {
	srv := &server{call: s.call, tools: tools, allowed: s.allowed, most: s.o.MaxCalls}
	served := make(chan struct{})
	l, hangUp, err := s.line()
	if err != nil {
		return nil, fail("scripts cannot call tools here: " + err.Error())
	}
	ctx, stop := context.WithCancel(s.ctx)
	go func() { defer close(served); srv.serve(ctx, l) }()

	keep := &backend.Keep{Limit: maxOutput}
	masker := &backend.Masker{To: keep, Mask: s.mask}
	screen := backend.NewScreen(masker)
	began := time.Now()
	exit, err := s.place.Env.Exec(s.ctx, backend.Cmd{Script: runScript, Dir: s.where(), Env: s.vars(), Timeout: time.Duration(s.o.Timeout) * time.Second, Output: screen})
	took := time.Since(began)
	stop() // calls that nobody waits for any more
	hangUp()
	<-served
	if err != nil {
		return nil, fail("the script was not started: " + err.Error())
	}
	_ = errors.Join(screen.Close(), masker.Close()) // Keep takes everything
	_, _ = keep.Close()                             // it has no file
	r := result{
		Status: "success", Output: strings.TrimRight(keep.Text(), " \t\r\n"), Calls: srv.made(), Duration: math.Round(took.Seconds()*100) / 100, Note: strings.Join(exit.Notes, " "),
	}
	return s.judge(r, exit)
}

// judge says how it went.
func (s *script) judge(r result, exit backend.Exit) (any, error) {
	errs := s.complaints()
	switch {
	case exit.Reason == backend.TimedOut:
		r.Status, r.Error = "timeout", fmt.Sprintf("the script took longer than %d seconds and was ended", s.o.Timeout)
	case exit.Reason == backend.Interrupted:
		r.Status, r.Error = "interrupted", "the script was interrupted"
	case exit.Reason == backend.Lost:
		r.Status, r.Error = "error", "the connection broke while the script ran"
	case exit.Code == 126 && errs == "" && r.Output == "":
		r.Status, r.Error = "error", noPython
	case exit.Code != 0:
		r.Status, r.Error = "error", errs
		if errs == "" {
			r.Error = fmt.Sprintf("the script ended with exit code %d", exit.Code)
		}
	}
	if r.Status == "success" {
		return r, nil
	}
	if errs != "" {
		r.Output = strings.TrimLeft(r.Output+"\n--- stderr ---\n"+errs, "\n")
	}
	if s.place.Confined && (strings.Contains(errs, "PermissionError") || strings.Contains(errs, "Permission denied")) {
		r.Hint = "Scripts run confined: files outside of the working directory and the network may be closed to them. The tools reach what you reach."
	}
	return nil, tool.Fail(r, r.Error)
}

// complaints are the beginning of what the script wrote to its standard error.
func (s *script) complaints() string {
	ctx := context.WithoutCancel(s.ctx)
	f, err := s.files.Open(ctx, path.Join(s.dir, "errors"))
	if err != nil {
		return "" // it never got so far
	}
	defer func() { _ = f.Close() }()                   // opened for reading
	b, _ := io.ReadAll(io.LimitReader(f, 4*maxErrors)) // what there is of it
	var text strings.Builder
	screen := backend.NewScreen(&text)
	_, _ = screen.Write(b) // a Builder takes everything
	_ = screen.Close()     // as above
	out := []rune(strings.TrimSpace(s.mask(text.String())))
	if len(out) > maxErrors {
		return string(out[:maxErrors]) + " ... [truncated]"
	}
	return string(out)
}

// where is the directory that the script starts in.
func (s *script) where() string {
	if s.o.Mode == "strict" {
		return s.dir
	}
	return s.place.Dir
}

func (s *script) vars() []string {
	v := []string{"HERMES_RPC_DIR=" + s.dir, "HERMES_CODE_MODE=" + s.o.Mode, "PYTHONDONTWRITEBYTECODE=1"}
	if s.o.Timezone != "" {
		v = append(v, "TZ="+s.o.Timezone)
	}
	return v
}

func (s *script) mask(text string) string {
	if p, err := tool.Use[backend.Provider](s.call.Session.Services); err == nil {
		if h, ok := p.(backend.Host); ok {
			return h.Mask(text)
		}
	}
	return text
}

// readAll reads a request, which has a limit as everything that others write.
func readAll(r io.Reader) ([]byte, error) {
	const most = 32 << 20
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("it is longer than %d MB", most>>20)
	}
	return b, err
}
