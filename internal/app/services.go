package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/delegate"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/memory"
	"github.com/hermes-go/hermes/internal/shell"
	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/tool"
)

// provide is the one list of what tools may use. A turn adds the asker, the
// approver and the loop itself.
func (a *App) provide() {
	set := backend.DefaultSettings()
	if err := config.Decode(a.Config, "terminal", &set); err != nil {
		a.Notice(err.Error())
	}
	set.MaxChars = a.number("tool_output.max_bytes", set.MaxChars)
	set.Private = a.Home
	a.pool = &backend.Pool{
		Open: a.openBackend, Idle: a.duration("terminal.lifetime_seconds", 300*time.Second),
		Closed: func(task string, err error) { a.Log.Warn("environment not closed", "task", task, "err", err) },
		Set:    set, Redact: a.Secrets.Redactor().Redact, Dir: filepath.Join(a.Home, "processes"), Log: a.Log,
	}
	a.services = tool.NewServices(nil)
	tool.ProvideAs[tool.Variables](a.services, variables{a.Secrets})
	tool.ProvideAs(a.services, a.tasks)
	if m := a.memory(); m.Disabled(memory.Notes) == "" || m.Disabled(memory.User) == "" {
		tool.ProvideAs(a.services, m)
	}
	a.Skills, a.passes = a.library(), &passes{secrets: a.Secrets, by: map[string][]string{}}
	tool.ProvideAs(a.services, a.Skills)
	tool.ProvideAs(a.services, &skill.Seen{})
	tool.ProvideAs[skill.Passer](a.services, a.passes)
	tool.ProvideAs[skill.Setup](a.services, a.passes)
	tool.ProvideAs[store.Opener](a.services, a)
	tool.ProvideAs[backend.Provider](a.services, a.pool)
	tool.ProvideAs[backend.ScriptHost](a.services, &scripts{app: a})
	tool.ProvideAs(a.services, a.Registry.Nested(scriptTools[:]...))
	tool.ProvideAs[tool.Spiller](a.services, spiller{})
	tool.ProvideAs[files.Redactor](a.services, a.Secrets.Redactor())
	tool.ProvideAs(a.services, files.Options{
		Home: a.Home, MaxLines: a.number("tool_output.max_lines", 2000),
		MaxLineLength: a.number("tool_output.max_line_length", 2000), MaxReadChars: a.number("file_read_max_chars", 100_000),
	})
}

// variables shows the secrets' sources to checks as plain names.
type variables struct{ *secret.Store }

func (v variables) Lookup(name string) (value, source string, ok bool) {
	value, from, ok := v.Store.Lookup(name)
	return value, string(from), ok
}

func (a *App) memory() *memory.Store {
	var limits struct {
		Memory int `yaml:"memory_char_limit"`
		User   int `yaml:"user_char_limit"`
	}
	if err := config.Decode(a.Config, "memory", &limits); err != nil {
		a.Notice(err.Error())
	}
	m := memory.New(filepath.Join(a.Home, "memories"), memory.Limits{Notes: limits.Memory, User: limits.User})
	for key, target := range map[string]memory.Target{"memory.memory_enabled": memory.Notes, "memory.user_profile_enabled": memory.User} {
		if on, known := a.Config.Get(key); known && on == false {
			m.Disable(target, key+" is false")
		}
	}
	return m
}

func (a *App) openBackend(ctx context.Context, task string) (backend.Env, error) {
	name := a.Config.String("terminal.backend")
	if name == "" {
		name = "local"
	}
	kind, ok := backend.Lookup(name)
	if !ok {
		var known []string
		for _, k := range backend.All() {
			known = append(known, k.Name)
		}
		return nil, fmt.Errorf("terminal.backend %q is not built into this program; there are %s: hermes config set terminal.backend local", name, strings.Join(known, ", "))
	}
	dir := a.Config.String("terminal.cwd")
	if dir == "" || dir == "." || a.entered != "" {
		dir = a.WorkDir
	}
	return kind.Open(ctx, backend.Options{
		Task: task, Cwd: dir, Home: a.Home, Log: a.Log,
		Decode: func(into any) error { return config.Decode(a.Config, "terminal", into) },
		Vars:   a.taskVars(task), Passed: a.passedVars(task), Lookup: a.Secrets.Get, Once: &a.once,
		Files: func() []string { return a.passes.filesOf(task) },
	})
}

// childEnv is the environment of a task's commands: without the keys of
// services, with what the configuration and the task's skills let through.
func (a *App) childEnv(task string) []string {
	pass := a.passedNames(task)
	env, refused := a.Secrets.ChildEnv(a.Environ, pass)
	for _, name := range refused {
		a.Notice(fmt.Sprintf("terminal.env_passthrough: %s is a key of a service and is not passed to commands", name))
	}
	return a.fromDotEnv(env, pass, refused)
}

// passedVars gives what was let through by name: the part of the environment
// that follows commands to other machines.
func (a *App) passedVars(task string) func() []string {
	return func() []string {
		names := a.passedNames(task)
		_, refused := a.Secrets.ChildEnv(nil, names)
		return a.fromDotEnv(nil, names, refused)
	}
}

// passedNames are the variables that the configuration and the task's skills
// let through.
func (a *App) passedNames(task string) []string {
	keys := []string{"terminal.env_passthrough"}
	if a.Config.String("terminal.backend") == "docker" {
		keys = append(keys, "terminal.docker_forward_env")
	}
	var names []string
	for _, key := range keys {
		var more []string
		if err := config.Decode(a.Config, key, &more); err != nil {
			a.Notice(err.Error())
		}
		names = append(names, more...)
	}
	return append(names, a.passes.of(task)...)
}

func (a *App) guardrails() agent.GuardrailRules {
	in := struct {
		Warnings  bool               `yaml:"warnings_enabled"`
		HardStop  bool               `yaml:"hard_stop_enabled"`
		WarnAfter agent.RepeatLimits `yaml:"warn_after"`
		StopAfter agent.RepeatLimits `yaml:"hard_stop_after"`
	}{Warnings: true}
	if err := config.Decode(a.Config, "tool_loop_guardrails", &in); err != nil {
		a.Notice(err.Error())
	}
	return agent.GuardrailRules{NoWarnings: !in.Warnings, HardStop: in.HardStop, WarnAfter: in.WarnAfter, StopAfter: in.StopAfter}
}

// gate decides a session's approvals.
func (a *App) gate(yolo bool) *ask.Gate {
	g := &ask.Gate{Mode: ask.Mode(a.Config.String("approvals.mode")), Saved: a.savedApprovals(), Always: a.saveApproval, Smart: a.decide}
	switch g.Mode {
	case "off", "false":
		g.Mode = ask.Off
	case ask.Smart:
	default:
		g.Mode = ask.Manual
	}
	if yolo {
		g.Mode = ask.Off
	}
	return g
}

// yolo reports whether the environment switches asking off.
func (a *App) yolo() bool {
	switch strings.ToLower(a.Secrets.Get("HERMES_YOLO_MODE")) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// saveApproval adds a key to command_allowlist.
func (a *App) saveApproval(key string) error {
	_, err := config.Set(a.Config.Path(), "command_allowlist[+]", key, config.KindText)
	return err
}

func (a *App) savedApprovals() []string {
	var saved []string
	if err := config.Decode(a.Config, "command_allowlist", &saved); err != nil {
		a.Notice(err.Error())
	}
	var rules []string
	for _, key := range saved {
		rules = append(rules, shell.RulesOf(key)...)
	}
	return rules
}

func (a *App) duration(key string, otherwise time.Duration) time.Duration {
	d := otherwise
	if err := config.Decode(a.Config, key, &d); err != nil {
		a.Notice(err.Error())
	}
	return d
}

func declaredVars(r *tool.Registry) []secret.Var {
	var all []secret.Var
	for _, t := range r.All() {
		all = append(all, t.Env...)
	}
	for _, k := range provider.All() {
		all = append(all, k.Env...)
	}
	for _, k := range backend.All() {
		all = append(all, k.Env...)
	}
	return all
}

// spiller keeps long results in the temporary directory, one folder for the
// user, readable by nobody else.
type spiller struct{}

var unsafeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// Spill implements tool.Spiller: beside and rename, so that a reader never
// sees half a file.
func (spiller) Spill(_ context.Context, _ *tool.Session, callID string, content []byte) (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("hermes-results-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("keep result: %w", err)
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("keep result: %s is not a private directory", dir)
	}
	suffix := make([]byte, 4)
	if _, err := rand.Read(suffix); err != nil {
		return "", err
	}
	name := unsafeName().ReplaceAllString(callID, "_")
	path := filepath.Join(dir, fmt.Sprintf("%.80s-%s.txt", name, hex.EncodeToString(suffix)))
	if err := os.WriteFile(path+".tmp", content, 0o600); err != nil {
		return "", fmt.Errorf("keep result: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return "", fmt.Errorf("keep result: %w", err)
	}
	return path, nil
}

// loopSession is a session as a turn would have it, for questions about what
// would be offered. Nothing runs in it.
func (a *App) loopSession(platform string) *tool.Session {
	s := a.Session("", "", platform)
	tool.ProvideAs[agent.Loop](s.Services, idleLoop{})
	tool.ProvideAs[delegate.Spawner](s.Services, &children{})
	return s
}

type idleLoop struct{}

func (idleLoop) LastResult(string) (string, bool) { return "", false }
