package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hermes-go/hermes/internal/fakemodel"
	"github.com/hermes-go/hermes/internal/replay"
)

var update = flag.Bool("update", false, "rewrite the files that scripts compare with")

// binDir holds the program for tests that start it themselves.
var binDir string

func TestMain(m *testing.M) {
	testscript.Main(withBinary{m}, map[string]func(){"hermes": main})
}

// withBinary notes where testscript has put the commands, which are links to
// this test binary, before the tests run.
type withBinary struct{ *testing.M }

func (w withBinary) Run() int {
	binDir, _, _ = strings.Cut(os.Getenv("PATH"), string(os.PathListSeparator))
	return w.M.Run()
}

// TestScripts runs the program as a person would: every file of
// testdata/script is one story.
func TestScripts(t *testing.T) {
	t.Parallel()
	var models sync.Map // server by script
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("HERMES_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("TMPDIR", filepath.Join(e.WorkDir, "tmp"))
			tapes := filepath.Join(e.WorkDir, "tapes")
			e.Setenv("HERMES_RECORD_DIR", tapes)
			e.Defer(func() { replayAll(e.T(), tapes) })
			return errors.Join(os.MkdirAll(filepath.Join(e.WorkDir, "tmp"), 0o700), os.MkdirAll(tapes, 0o700))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// model FILE starts a model server that plays FILE, one JSON reply
			// a line, and writes a home that uses it.
			"model": func(ts *testscript.TestScript, _ bool, args []string) {
				s := fakemodel.New(t, replies(ts, args[0])...)
				models.Store(ts, s)
				ts.Setenv("MODEL_URL", s.V1())
				home := ts.Getenv("HERMES_HOME")
				ts.Check(os.MkdirAll(home, 0o700))
				cfg := fmt.Sprintf("model:\n  provider: custom\n  default: fake\n  base_url: %s\n", s.V1())
				ts.Check(os.WriteFile(filepath.Join(home, "config.yaml"), []byte(cfg), 0o600))
			},
			// requests FILE writes what the server was asked, one body a line,
			// and fails when a reply of the script was not played.
			"requests": func(ts *testscript.TestScript, _ bool, args []string) {
				v, _ := models.Load(ts)
				s := v.(*fakemodel.Server)
				if n := s.Left(); n > 0 {
					ts.Fatalf("%d replies were not asked for", n)
				}
				var b bytes.Buffer
				for _, r := range s.Requests() {
					b.Write(bytes.TrimSpace(r.Body))
					b.WriteByte('\n')
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
			},
			// lines N FILE fails unless the file has N lines.
			"lines": func(ts *testscript.TestScript, neg bool, args []string) {
				got := fmt.Sprint(strings.Count(ts.ReadFile(args[1]), "\n"))
				if (got == args[0]) == neg {
					ts.Fatalf("%s has %s lines", args[1], got)
				}
			},
			// lastline FILE TEXT fails unless TEXT is the file's last line.
			"lastline": func(ts *testscript.TestScript, neg bool, args []string) {
				all := strings.Split(strings.TrimRight(ts.ReadFile(args[0]), "\n"), "\n")
				if (all[len(all)-1] == args[1]) == neg {
					ts.Fatalf("last line of %s: %q", args[0], all[len(all)-1])
				}
			},
		},
	})
}

// replayAll runs every conversation of a script again: the loop has to make the
// same events of the same answers, to the byte.
func replayAll(t testscript.T, dir string) {
	tapes, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tape := range tapes {
		f, err := os.Open(tape)
		if err != nil {
			t.Fatal(err)
		}
		c, err := replay.Read(f)
		if info, statErr := f.Stat(); statErr == nil && info.Size() == 0 || errors.Is(err, replay.ErrEmpty) {
			_ = f.Close()
			continue // nothing was said
		}
		_ = f.Close()
		n := 0
		if err == nil {
			n, err = c.Run(context.Background(), 0, func(int, json.RawMessage) {})
		}
		if err != nil {
			b, _ := os.ReadFile(tape)
			t.Fatal(fmt.Sprintf("replay of %s: %v\n%s", filepath.Base(tape), err, b))
		}
		replayed.Add(int64(n))
	}
}

// replayed counts events over all scripts.
var replayed atomic.Int64

// replies reads a model script: {"text"}, {"calls":[{"name","args"}]},
// {"status","body","header"}, {"cut"}, as fakemodel has them.
func replies(ts *testscript.TestScript, file string) []fakemodel.Reply {
	var all []fakemodel.Reply
	for line := range strings.Lines(ts.ReadFile(file)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var in struct {
			Text, Reasoning, Finish, Body string
			Status, Cut                   int
			Header                        map[string]string
			Usage                         *fakemodel.Usage
			Calls                         []struct {
				ID, Name string
				Args     json.RawMessage
			}
		}
		ts.Check(json.Unmarshal([]byte(line), &in))
		r := fakemodel.Reply{Text: in.Text, Reasoning: in.Reasoning, Finish: in.Finish, Status: in.Status, Body: in.Body, Header: in.Header, Cut: in.Cut, Usage: in.Usage}
		for _, c := range in.Calls {
			r.Calls = append(r.Calls, fakemodel.Call{ID: c.ID, Name: c.Name, Args: string(c.Args)})
		}
		all = append(all, r)
	}
	return all
}
