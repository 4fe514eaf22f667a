package hostshell

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shellstate"
)

// change is what a snapshot adds to the variables of before: what stays on
// disk. The rest may hold keys, and is there anyway when it is read again.
type change struct {
	Set   []string `json:"set"`
	Unset []string `json:"unset"`
	Text  string   `json:"text"`
	Names []string `json:"names"`
}

func since(s *shellstate.Snapshot, vars []string) change {
	c := change{Text: s.Text, Names: s.Names}
	old, now := map[string]bool{}, map[string]bool{}
	for _, v := range vars {
		old[v] = true
	}
	for _, v := range s.Vars {
		name, _, _ := strings.Cut(v, "=")
		now[name] = true
		if !old[v] {
			c.Set = append(c.Set, v)
		}
	}
	for _, v := range vars {
		if name, _, _ := strings.Cut(v, "="); !now[name] {
			c.Unset = append(c.Unset, name)
		}
	}
	return c
}

func (c change) on(vars []string) *shellstate.Snapshot {
	gone := map[string]bool{}
	for _, name := range c.Unset {
		gone[name] = true
	}
	for _, v := range c.Set {
		name, _, _ := strings.Cut(v, "=")
		gone[name] = true
	}
	s := &shellstate.Snapshot{Text: c.Text, Names: c.Names}
	for _, v := range vars {
		if name, _, _ := strings.Cut(v, "="); !gone[name] {
			s.Vars = append(s.Vars, v)
		}
	}
	s.Vars = append(s.Vars, c.Set...)
	return s
}

const (
	snapshotLimit = 30 * time.Second // for start-up files that wait for something
	snapshotLife  = 24 * time.Hour   // they may read other files, whose changes are not seen
)

// snapshot makes the start-up files' work count, before the first command. It
// is done once for all tasks, and kept on disk for the next programs: start-up
// files often take longer than everything else together.
func (e *Shell) snapshot(ctx context.Context) (*shellstate.Snapshot, error) {
	e.once.Do(func() {
		files := e.initFiles()
		if len(files) == 0 {
			return
		}
		key := e.snapshotKey(files)
		v, err := e.o.Once.Do(ctx, "local:"+key, func() (any, error) {
			if s := e.loadSnapshot(key); s != nil {
				return s, nil
			}
			s, err := e.takeSnapshot(files)
			if err == nil {
				e.saveSnapshot(key, s)
			}
			return s, err
		})
		if err != nil {
			if e.o.Log != nil {
				e.o.Log.Warn("shell start-up files were not read", "err", err)
			}
			return
		}
		e.snap = *v.(*shellstate.Snapshot)
		e.mu.Lock()
		e.vars = e.snap.Vars
		e.mu.Unlock()
	})
	return &e.snap, ctx.Err()
}

// initFiles are the files that exist.
func (e *Shell) initFiles() []string {
	if !shellstate.IsBash(e.shell) || e.o.Bare {
		return nil
	}
	names := e.set.ShellInitFiles
	if len(names) == 0 && e.set.AutoSourceBashrc && e.home != "" {
		names = []string{"~/.profile", "~/.bash_profile", "~/.bashrc"}
	}
	var files []string
	for _, name := range names {
		name = e.expand(name)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files
}

// snapshotKey changes when anything changes that a snapshot depends on.
func (e *Shell) snapshotKey(files []string) string {
	h := sha256.New() // never fails to write
	_, _ = fmt.Fprintln(h, "2", e.shell)
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			_, _ = fmt.Fprintln(h, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, v := range e.vars {
		_, _ = fmt.Fprintln(h, v)
	}
	return hex.EncodeToString(h.Sum(nil))[:24]
}

func (e *Shell) snapshotFile(key string) string {
	if e.o.Home == "" {
		return ""
	}
	return filepath.Join(e.o.Home, "cache", "shell-"+key+".json")
}

func (e *Shell) loadSnapshot(key string) *shellstate.Snapshot {
	name := e.snapshotFile(key)
	info, err := os.Stat(name)
	if name == "" || err != nil || time.Since(info.ModTime()) > snapshotLife {
		return nil
	}
	b, err := os.ReadFile(name)
	var c change
	if err != nil || json.Unmarshal(b, &c) != nil {
		return nil
	}
	return c.on(e.vars)
}

// saveSnapshot keeps a snapshot for the next program; without it, that one
// only starts slower. What the start-up files export may be secret.
func (e *Shell) saveSnapshot(key string, s *shellstate.Snapshot) {
	name := e.snapshotFile(key)
	if name == "" {
		return
	}
	dir := filepath.Dir(name)
	b, err := json.Marshal(since(s, e.vars))
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		old, _ := filepath.Glob(filepath.Join(dir, "shell-*.json")) // the pattern is well formed
		for _, name := range old {
			if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > snapshotLife {
				_ = os.Remove(name) // another program may have been first
			}
		}
		err = Files{}.WriteFile(context.Background(), name, b, backend.WriteOptions{Mode: 0o600})
	}
	if err != nil && e.o.Log != nil {
		e.o.Log.Debug("shell snapshot was not kept", "err", err)
	}
}

// takeSnapshot runs the start-up files in a shell of their own. Their output
// and errors are nobody's business.
func (e *Shell) takeSnapshot(files []string) (*shellstate.Snapshot, error) {
	state, err := newStateFile()
	if err != nil {
		return nil, err
	}
	defer state.close()
	var b strings.Builder
	b.WriteString("exec >/dev/null 2>&1\nshopt -s expand_aliases\n")
	for _, name := range files {
		b.WriteString(". " + shellstate.Quote(name) + "\n")
	}
	b.WriteString(shellstate.Report + " >" + state.place(e.shell) + "\n")

	ctx, cancel := context.WithTimeout(context.Background(), snapshotLimit)
	defer cancel()
	gate, err := newGate(true)
	if err != nil {
		return nil, err
	}
	defer gate.close()
	cmd, cleanup, err := e.command(gate.before()+b.String(), e.cwd, nil)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	state.pass(cmd)
	gate.pass(cmd)
	if _, err := e.finish(ctx, cmd, gate, backend.Cmd{}); err != nil {
		return nil, err
	}
	out, err := state.read()
	if err != nil {
		return nil, err
	}
	return shellstate.ParseSnapshot(out)
}
