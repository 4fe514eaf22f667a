package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shellstate"
)

const (
	startLimit = time.Minute            // for a command to begin
	endGrace   = 4 * time.Second        // for a command that is ended to be gone
	lateOutput = 100 * time.Millisecond // for output of helpers that end just after the shell
)

// run is one command on its way.
type run struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// bootScript starts a command in a process group of its own and tells of it by
// the standard error, which the command does not have: "d:" its directory
// ("f:" when it is another than was wanted, "n:" when there is none), "p:" its group, state as shellstate reports it, "x:" exit code and group if
// that still lives. Each ends with a NUL.
//
// Arguments: directory; whether it was asked for; the shell; the descriptor
// for reports; variables to unset; the script, or by=file and its name.
const bootScript = `dir=$1 asked=$2 shell=$3 fd=$4 unset=$5 by=$6 script=$7 old=$OLDPWD
eval "exec $fd>&2"
exec 2>/dev/null
told=d
while ! cd -- "$dir"; do
	[ -z "$asked" ] || { printf 'n:%s\0' "$dir" >&$fd; exit 126; }
	told=f
	case $dir in */*[!/]*) dir=${dir%/*}; dir=${dir:-/} ;; *) cd "${TMPDIR:-/tmp}" || cd /; break ;; esac
done
printf '%s:%s\0' $told "$PWD" >&$fd
OLDPWD=$old
[ -z "$HERMES_RAW" ] || eval "$HERMES_RAW"
unset HERMES_RAW $unset
apart=
case $shell in *bash) set -m; set -- --noprofile --norc ;; *) set --; apart=setsid ;; esac
if [ "$by" = file ]; then set -- "$@" "$script"; else set -- "$@" -c "$script"; fi
$apart "$shell" "$@" <&0 2>&1 &
p=$!
printf 'p:%s\0' $p >&$fd
wait $p
c=$?
l=0; kill -0 -- -$p && l=$p
printf 'x:%s:%s\0' $c $l >&$fd
`

// terminalScript is the same on a terminal, where all goes one way: the
// reports come first, and the command takes the place of the script.
const terminalScript = `dir=$1 asked=$2 shell=$3 unset=$5 by=$6 script=$7 old=$OLDPWD
stty -echo
while ! cd -- "$dir" 2>/dev/null; do
	[ -z "$asked" ] || { printf 'n:%s\0' "$dir"; exit 126; }
	case $dir in */*[!/]*) dir=${dir%/*}; dir=${dir:-/} ;; *) cd "${TMPDIR:-/tmp}" 2>/dev/null || cd /; break ;; esac
done
OLDPWD=$old
printf 'd:%s\0p:%s\0' "$PWD" $$
IFS= read -r _ || exit 125
stty echo
[ -z "$HERMES_RAW" ] || eval "$HERMES_RAW"
unset HERMES_RAW $unset
case $shell in *bash) set -- --noprofile --norc ;; *) set -- ;; esac
if [ "$by" = file ]; then set -- "$@" "$script"; else set -- "$@" -c "$script"; fi
exec "$shell" "$@"
`

// gate stands before a script: it begins at a line of input, so that it does not
// begin when it was not written down, or nobody is there any more.
const gate = "IFS= read -r _ || exit 125; "

// report is what bootScript tells.
type report struct {
	tag  byte
	text string
}

// reports reads them until the end.
func reports(r io.Reader, to chan<- report) {
	defer close(to)
	in := bufio.NewReader(r)
	for {
		s, err := in.ReadString(0)
		if err != nil {
			if s = strings.TrimSpace(s); s != "" {
				to <- report{'e', s} // what stands there instead: an error of the place
			}
			return
		}
		s = strings.TrimSuffix(s, "\x00")
		switch {
		case len(s) > 1 && s[1] == ':':
			to <- report{s[0], s[2:]}
		case strings.HasPrefix(s, "/"): // the first half of a state
			exports, err := in.ReadString(0)
			if err != nil {
				return
			}
			to <- report{'s', s + "\x00" + exports}
		}
	}
}

// start starts a command, which waits at its gate.
func (e *Env) start(ctx context.Context, c backend.Cmd, l *looked, script string, p Program) (conn Conn, cleanup func(), err error) {
	if strings.IndexByte(script, 0) >= 0 {
		return nil, nil, errors.New("start the command: it holds a NUL byte")
	}
	cleanup = func() {}
	by := "text"
	if len(shellstate.Quote(script)) > shellstate.MaxArg {
		name := join(l.tmp, "hermes-"+randomName()+".sh")
		if err := e.put(ctx, name, script); err != nil {
			return nil, nil, fmt.Errorf("start the command: %w", err)
		}
		cleanup = func() {
			_, _, _ = e.output(context.WithoutCancel(ctx), Program{Argv: []string{"rm", "-f", name}}) // a leftover is in the temporary directory
		}
		by, script = "file", name
	}
	e.mu.Lock()
	e.late()
	dir, asked := e.cwd, ""
	if c.Dir != "" {
		asked = "yes"
		switch {
		case c.Dir == "~" || strings.HasPrefix(c.Dir, "~/"):
			dir = l.home + c.Dir[1:]
		case strings.HasPrefix(c.Dir, "/"):
			dir = c.Dir
		default:
			dir = join(e.cwd, c.Dir)
		}
	}
	p.Env = plain(append(append(append([]string{}, e.set...), p.Env...), c.Env...))
	unset := strings.Join(e.unset, " ")
	e.mu.Unlock()
	boot := bootScript
	if p.Terminal {
		boot = terminalScript
	}
	p.Argv = append(shellstate.Args(l.shell, boot, false), "hermes", dir, asked, l.shell, descriptor(l.shell), unset, by, script)
	conn, err = e.o.Place.Start(ctx, p)
	if err != nil {
		cleanup()
		return nil, nil, err
	}
	return conn, cleanup, nil
}

// rawName carries variables whose value is no text: not every way takes bytes.
const rawName = "HERMES_RAW"

// plain writes such variables as shell text, which bootScript reads.
func plain(vars []string) []string {
	var raw strings.Builder
	kept := vars[:0]
	for _, v := range vars {
		if utf8.ValidString(v) {
			kept = append(kept, v)
			continue
		}
		name, value, _ := strings.Cut(v, "=")
		raw.WriteString("export " + name + "=$'")
		for i := range len(value) {
			fmt.Fprintf(&raw, `\%03o`, value[i])
		}
		raw.WriteString("'\n")
	}
	if raw.Len() > 0 {
		kept = append(kept, rawName+"="+raw.String())
	}
	return kept
}

// descriptor is where reports go: out of the way of scripts, where the shell
// can count that far.
func descriptor(shell string) string {
	if shellstate.IsBash(shell) {
		return "19"
	}
	return "9"
}

// put writes a file that only its owner reads.
func (e *Env) put(ctx context.Context, name, content string) error {
	c, err := e.o.Place.Start(ctx, Program{Argv: []string{"sh", "-c", `umask 077; cat >"$1" && [ "$(wc -c <"$1")" -eq "$2" ] || { rm -f "$1"; exit 1; }`, "sh", name, strconv.Itoa(len(content))}})
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.WriteString(c, content) // one that is cut short is seen there
		_ = c.CloseWrite()
	}()
	out, code, err := collectOpen(ctx, c)
	if err != nil {
		return err
	}
	if code != 0 {
		return fmt.Errorf("write %s: %s", name, bytes.TrimSpace(out))
	}
	return nil
}

// Exec implements backend.Env.
func (e *Env) Exec(ctx context.Context, c backend.Cmd) (backend.Exit, error) {
	if err := ctx.Err(); err != nil {
		return backend.Exit{}, err
	}
	r, ctx, err := e.enter(ctx)
	if err != nil {
		return backend.Exit{}, err
	}
	defer e.leave(r)
	l, err := e.look(ctx)
	if err != nil {
		return backend.Exit{}, err
	}
	script := gate + shellstate.Wrap(l.shell, l.snap.Before(c.Script)+c.Script, "&"+descriptor(l.shell))
	var conn Conn
	var cleanup func()
	for try := 0; ; try++ {
		if conn, cleanup, err = e.start(ctx, c, l, script, Program{Limit: c.Timeout}); err != nil {
			return backend.Exit{}, err
		}
		exit, err := e.follow(ctx, c, conn)
		cleanup()
		if errors.Is(err, ErrNotStarted) && try == 0 && !e.o.Batch {
			continue // the way broke before the command began: a new one is made
		}
		return exit, err
	}
}

func (e *Env) enter(ctx context.Context) (*run, context.Context, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &run{cancel: cancel, done: make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		cancel(errClosed)
		return nil, nil, errClosed
	}
	e.running[r] = struct{}{}
	return r, ctx, nil
}

func (e *Env) leave(r *run) {
	e.mu.Lock()
	delete(e.running, r)
	e.mu.Unlock()
	close(r.done)
	r.cancel(nil)
}

// follow sees a command through. It has not begun when it is called.
func (e *Env) follow(ctx context.Context, c backend.Cmd, conn Conn) (backend.Exit, error) {
	defer func() { _ = conn.Close() }() // it has ended, or is given up
	told := make(chan report, 16)
	go reports(conn.Err(), told)
	out := newRelay(c.Output, conn.Out())
	go e.feed(c.Stdin, conn)

	// The command's own time begins with it, not with the way to it.
	wait := startLimit
	if e.o.Batch { // where nothing is heard of it before its end
		wait = c.Timeout
	}
	timer := time.NewTimer(wait)
	if wait <= 0 {
		timer.Stop()
	}
	defer timer.Stop()
	limit := timer.C
	f := following{env: e, ctx: ctx, cmd: c, conn: conn, exit: backend.Exit{Reason: backend.Exited}}
	stopped := ctx.Done()
	var giveUp <-chan time.Time
	end := func(why backend.Reason) {
		f.exit.Reason, limit, stopped = why, nil, nil
		giveUp = time.After(endGrace)
		if f.group == 0 {
			_ = conn.Close() // it never got to begin
			return
		}
		_ = e.guard.tell(context.WithoutCancel(ctx), "k", f.group) // giving up is what is left
	}
	for told != nil {
		select {
		case r, ok := <-told:
			if !ok || f.take(r) {
				told = nil
			}
			if ok && r.tag == 'p' && limit != nil {
				if timer.Stop(); c.Timeout > 0 {
					timer.Reset(c.Timeout)
				}
			}
		case <-limit:
			end(backend.TimedOut)
		case <-stopped:
			end(backend.Interrupted)
		case <-giveUp:
			told = nil
		}
	}
	f.exit.Held = !out.drain()
	return f.result()
}

// feed lets the command begin and gives it its input.
func (e *Env) feed(in io.Reader, conn Conn) {
	_, err := io.WriteString(conn, "go\n")
	if err == nil && in != nil {
		_, _ = io.Copy(conn, in) // a command need not read its input
	}
	_ = conn.CloseWrite() // as above
}

// following is what is known of a command so far.
type following struct {
	env   *Env
	ctx   context.Context
	cmd   backend.Cmd
	conn  Conn
	group int
	code  int
	ended bool
	began bool
	said  string // by the place, instead of a report
	none  string // directory that does not exist
	exit  backend.Exit
}

// take reads one report; true is the last.
func (f *following) take(r report) bool {
	e := f.env
	switch r.tag {
	case 'n':
		f.none = r.text
	case 'd':
		f.exit.Dir = r.text
	case 'f': // fell back
		f.exit.Dir = r.text
		e.mu.Lock()
		cwd := e.cwd
		e.mu.Unlock()
		f.exit.Notes = append(f.exit.Notes, fmt.Sprintf("The working directory %s does not exist any more; the command ran in %s.", cwd, r.text))
	case 'p':
		f.began = true
		f.group, _ = strconv.Atoi(r.text) // 0 is no group
		if err := e.guard.tell(f.ctx, "+", f.group); err != nil && e.o.Log != nil && !errors.Is(err, errClosed) {
			e.o.Log.Warn("a command would survive this program", "err", err)
		}
	case 's':
		e.remember(r.text, f.cmd, f.exit.Dir)
	case 'x':
		code, left, _ := strings.Cut(r.text, ":")
		f.code, _ = strconv.Atoi(code)
		f.exit.Left, _ = strconv.Atoi(left)
		f.ended = true
		if f.exit.Left == 0 || f.exit.Reason != backend.Exited {
			_ = e.guard.tell(f.ctx, "-", f.group) // it knows one more than there is
		}
		return true
	case 'e':
		f.said = r.text
	}
	return false
}

// result says how it ended.
func (f *following) result() (backend.Exit, error) {
	switch {
	case f.none != "":
		return backend.Exit{}, fmt.Errorf("directory of the command: %s does not exist, or may not be entered", f.none)
	case f.exit.Reason == backend.TimedOut:
		f.exit.Code = backend.CodeTimeout
	case f.exit.Reason == backend.Interrupted:
		f.exit.Code = backend.CodeInterrupt
	case f.ended:
		f.exit.Code = f.code
		return f.exit, nil
	default:
		code, err := f.conn.Wait()
		switch {
		case !f.began && err == nil && code != 0:
			return backend.Exit{}, fmt.Errorf("the command did not start in %s (exit code %d): %s", f.env.o.Name, code, f.said)
		case f.exit.Dir == "" && err != nil: // not even the supervisor began
			return backend.Exit{}, fmt.Errorf("%w: %s: %w", ErrNotStarted, f.env.o.Name, err)
		}
		f.exit.Reason, f.exit.Code = backend.Lost, backend.CodeLost
		why := "its supervisor was killed"
		if err != nil {
			why = err.Error()
		}
		f.exit.Notes = append(f.exit.Notes, fmt.Sprintf("The connection to %s broke while the command ran (%s). It may have been ended there, or done in part: look before doing it again. The next command connects anew.", f.env.o.Name, why))
	}
	f.exit.Left = 0
	return f.exit, nil
}

// remember keeps the state a command left. Of a command with a directory of
// its own, the directory does not count.
func (e *Env) remember(state string, c backend.Cmd, ran string) {
	dir, exports, ok := shellstate.ParseState([]byte(state))
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.Dir == "" {
		if !strings.HasPrefix(dir, "/") {
			dir = ran // it removed the directory it stood in
		}
		e.cwd = dir
	}
	if exports == e.dump {
		return
	}
	vars, ok := shellstate.ParseExports(exports)
	if !ok {
		return
	}
	e.dump = exports
	if len(c.Env) > 0 {
		before := append([]string{}, e.set...)
		for name, value := range e.looked.base {
			if shellstate.Value(e.set, name) == "" {
				before = append(before, name+"="+value)
			}
		}
		vars, e.dump = shellstate.Without(vars, before, c.Env), ""
	}
	e.keep(e.looked, vars)
}
