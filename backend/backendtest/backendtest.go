// Package backendtest is the conformance suite of the backend contract: what
// every environment must do alike. The test of an implementation calls it; it
// holds nothing that only one implementation needs.
package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// Shell runs a script and fails the test when it could not start.
func Shell(t *testing.T, e backend.Env, script string) (string, backend.Exit) {
	t.Helper()
	return Run(t, e, backend.Cmd{Script: script})
}

// Run is Shell for a whole command. Output is set by it.
func Run(t *testing.T, e backend.Env, c backend.Cmd) (string, backend.Exit) {
	t.Helper()
	var out bytes.Buffer
	c.Output = &out
	exit, err := e.Exec(context.Background(), c)
	if err != nil {
		t.Fatalf("%s: %v", c.Script, err)
	}
	return out.String(), exit
}

// Env holds an environment against the contract. open makes a fresh one whose
// first command starts in an existing directory.
func Env(t *testing.T, open func(t *testing.T) backend.Env) {
	t.Run("56 state that persists", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		var before []string // what a lost state is to be explained by
		for _, c := range []struct{ script, want string }{
			{"cd /; cd /tmp && export A=1 && B=2", ""},
			{"pwd -P; echo [$A][$B]", tmp(t, e) + "\n[1][]\n"},
			{"export T=$'a\\nb \"c\" $d `e` \\\\ \\001 \\377 é' Q=\"it's\" E=", ""},
			{"printf %s \"$T\" | od -An -tx1 | tr -d ' \\n'", "610a62202263222024642060656020" + "5c" + "2001" + "20ff20c3a9"},
			{"echo \"$Q\"[$E]${E-unset}", "it's[]\n"},
			{"unset A; (export SUB=1; cd /)", ""},
			{"echo ${A-gone}${SUB-gone}; pwd -P", "gonegone\n" + tmp(t, e) + "\n"},
			{"cd - >/dev/null; pwd", "/\n"},
			{"cd /tmp; export X=before-exit; exit 3", ""},
			{"echo $X", "before-exit\n"},
			{"trap 'echo bye' EXIT; export X=trapped", "bye\n"},
			{"echo $X; false", "trapped\n"},
			{"cd /; set -eu; export X=strict; false; echo never", ""},
			{"echo $X; pwd", "strict\n/\n"},
			{"cat <<'E'\nheredoc $X\nE", "heredoc $X\n"},
			{"echo last # comment", "last\n"},
		} {
			got, exit := Shell(t, e, c.script)
			before = append(before, fmt.Sprintf("%s: %+v", c.script, exit))
			if got != c.want {
				t.Errorf("%s: got %q, want %q, after\n%s", c.script, got, c.want, strings.Join(before, "\n"))
			}
		}
	})
	t.Run("exit codes", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for script, want := range map[string]int{
			"true": 0, "exit 7": 7, "false": 1, "no-such-command-here": 127, "trap 'true' EXIT; (exit 4)": 4,
			"kill -9 $$": 137, "exec false": 1, "set -e; false; true": 1,
		} {
			if _, exit := Shell(t, e, script); exit.Code != want || exit.Reason != backend.Exited {
				t.Errorf("%s: got %+v, want %d", script, exit, want)
			}
		}
	})
	t.Run("workdir does not stick", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		before, err := e.Cwd(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := Run(t, e, backend.Cmd{Script: "pwd; cd /tmp; export W=1", Dir: "/"}); got != "/\n" {
			t.Errorf("ran in %q", got)
		}
		if got, _ := Shell(t, e, "pwd; echo $W"); got != before+"\n1\n" {
			t.Errorf("then %q, want %s", got, before)
		}
		if _, err := e.Exec(context.Background(), backend.Cmd{Script: "true", Dir: "/no/such/directory"}); err == nil {
			t.Error("ran in a directory that does not exist")
		}
	})
	t.Run("F-040 vanished directory", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		Shell(t, e, "d=$(mktemp -d); mkdir -p $d/g/h; cd $d/g/h; export TOP=$d")
		Shell(t, e, "rm -rf $TOP/g")
		got, exit := Shell(t, e, "pwd; [ $PWD = $TOP ]; echo $?")
		if !strings.HasSuffix(got, "\n0\n") || len(exit.Notes) != 1 || exit.Code != 0 {
			t.Errorf("got %q, %+v", got, exit)
		}
		if _, exit := Shell(t, e, "rmdir $TOP; cd /"); len(exit.Notes) != 0 {
			t.Errorf("told twice: %+v", exit)
		}
	})
	t.Run("F-041 grandchildren do not hold the answer", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		long := fmt.Sprintf("sleep 20.%09d", time.Now().Nanosecond()) // no other run of this test may end ours
		for _, script := range []string{long + " & echo started", "(setsid " + long + " &); echo started", "(" + long + "; echo late) & echo started"} {
			start := time.Now()
			got, exit := Shell(t, e, script)
			if got != "started\n" || exit.Code != 0 || !exit.Held {
				t.Errorf("%s: got %q, %+v", script, got, exit)
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("%s: took %v", script, took)
			}
		}
		Shell(t, e, "pkill -f '"+long+"$' || true")
	})
	t.Run("output of helpers that end just after the shell", func(t *testing.T) {
		t.Parallel()
		if got, _ := Shell(t, open(t), "echo hello > >(cat)"); got != "hello\n" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("F-044 empty input", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for script, want := range map[string]string{`read -p "name? " n; echo got=$n`: "got=\n", "cat": "", "cat /dev/tty 2>/dev/null; echo x": "x\n"} {
			if got, _ := Shell(t, e, script); got != want {
				t.Errorf("%s: got %q", script, got)
			}
		}
		if got, _ := Run(t, e, backend.Cmd{Script: "cat", Stdin: strings.NewReader("given")}); got != "given" {
			t.Errorf("with input: got %q", got)
		}
		if got, _ := Run(t, e, backend.Cmd{Script: "echo unread", Stdin: strings.NewReader(strings.Repeat("x", 1<<20))}); got != "unread\n" {
			t.Errorf("with unread input: got %q", got)
		}
	})
	t.Run("F-048 timeout", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		for _, script := range []string{"echo part; sleep 30", "trap '' TERM; echo part; sleep 30 & wait; sleep 30", "echo part; bash -c 'trap \"\" TERM; sleep 30' | cat"} {
			start := time.Now()
			got, exit := Run(t, e, backend.Cmd{Script: script, Timeout: 200 * time.Millisecond})
			if exit.Code != 124 || exit.Reason != backend.TimedOut || got != "part\n" {
				t.Errorf("%s: got %q, %+v", script, got, exit)
			}
			if took := time.Since(start); took > 4*time.Second {
				t.Errorf("%s: took %v", script, took)
			}
		}
		if got, _ := Shell(t, e, "echo fine"); got != "fine\n" {
			t.Errorf("afterwards: %q", got)
		}
	})
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		ctx, cancel := context.WithCancel(context.Background())
		out := writerFunc(func(p []byte) (int, error) { cancel(); return len(p), nil })
		exit, err := e.Exec(ctx, backend.Cmd{Script: "echo started; sleep 30", Output: out})
		if err != nil || exit.Code != 130 || exit.Reason != backend.Interrupted {
			t.Errorf("got %+v, %v", exit, err)
		}
		if _, err := e.Exec(ctx, backend.Cmd{Script: "echo no"}); !errors.Is(err, context.Canceled) {
			t.Errorf("with a dead context: %v", err)
		}
	})
	t.Run("output as bytes, in order", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		if got, _ := Shell(t, e, `printf '\000\377\033[31m'; echo err >&2; echo out`); got != "\x00\xff\x1b[31merr\nout\n" {
			t.Errorf("got %q", got)
		}
		long := strings.Repeat("x", 300_000)
		if got, exit := Shell(t, e, "echo "+long+"; pwd >/dev/null"); got != long+"\n" || exit.Code != 0 {
			t.Errorf("a long script: %d bytes, %+v", len(got), exit)
		}
		failing := writerFunc(func([]byte) (int, error) { return 0, errors.New("full") })
		if exit, err := e.Exec(context.Background(), backend.Cmd{Script: "yes | head -c 1000000; exit 5", Output: failing}); err != nil || exit.Code != 5 {
			t.Errorf("a writer that fails: %+v, %v", exit, err)
		}
	})
	t.Run("variables of one command", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		if got, _ := Run(t, e, backend.Cmd{Script: "echo $ONE", Env: []string{"ONE=1"}}); got != "1\n" {
			t.Errorf("got %q", got)
		}
		if got, _ := Shell(t, e, "echo ${ONE-unset}"); got != "unset\n" {
			t.Errorf("it stayed: %q", got)
		}
	})
	t.Run("many at once", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if got, exit := Shell(t, e, "sleep 0.05; echo done"); got != "done\n" || exit.Code != 0 {
					t.Errorf("got %q, %+v", got, exit)
				}
			})
		}
		wg.Wait()
	})
	t.Run("close ends what runs", func(t *testing.T) {
		t.Parallel()
		e := open(t)
		started := make(chan struct{})
		ended := make(chan backend.Exit, 1)
		go func() {
			var once sync.Once
			out := writerFunc(func(p []byte) (int, error) { once.Do(func() { close(started) }); return len(p), nil })
			exit, err := e.Exec(context.Background(), backend.Cmd{Script: "echo x; sleep 30", Output: out})
			if err != nil {
				t.Error(err)
				once.Do(func() { close(started) })
			}
			ended <- exit
		}()
		<-started
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if exit := <-ended; exit.Reason != backend.Interrupted {
			t.Errorf("got %+v", exit)
		}
		if _, err := e.Exec(context.Background(), backend.Cmd{Script: "true"}); err == nil {
			t.Error("a closed environment ran a command")
		}
	})
}

// tmp is the real path of /tmp, which is a link on some systems.
func tmp(t *testing.T, e backend.Env) string {
	t.Helper()
	got, _ := Run(t, e, backend.Cmd{Script: "pwd -P", Dir: "/tmp"})
	return strings.TrimSuffix(got, "\n")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
