package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shellstate"
)

// process is a command that runs beside others.
type process struct {
	env      *Env
	id       backend.ProcessID
	conn     Conn
	terminal bool
	done     chan struct{}
	exit     backend.Exit
}

// Spawn implements backend.Spawner.
func (e *Env) Spawn(ctx context.Context, c backend.Cmd, o backend.SpawnOptions) (backend.Process, error) {
	if o.File != "" {
		return nil, fmt.Errorf("start the command: %w", backend.ErrNoKeep)
	}
	if e.o.Batch {
		return nil, fmt.Errorf("start the command: %w", backend.ErrNoSpawn)
	}
	l, err := e.look(ctx)
	if err != nil {
		return nil, err
	}
	prog := Program{Env: []string{"PYTHONUNBUFFERED=1"}, Terminal: o.PTY, Cols: o.Cols, Rows: o.Rows}
	if o.PTY {
		prog.Env = append(prog.Env, "TERM=xterm-256color")
		if prog.Cols <= 0 || prog.Rows <= 0 {
			prog.Cols, prog.Rows = 120, 30
		}
	}
	script := shellstate.Unreported(l.shell, l.snap.Before(c.Script)+c.Script)
	if !o.PTY {
		script = gate + script
	}
	conn, cleanup, err := e.start(ctx, c, l, script, prog)
	if err != nil {
		return nil, err
	}
	p := &process{env: e, conn: conn, terminal: o.PTY, done: make(chan struct{})}
	p.exit.Reason = backend.Exited
	out := conn.Out()
	told := make(chan report, 16)
	if o.PTY {
		in := bufio.NewReader(out)
		out = in
		err = p.readReports(in)
	} else {
		go reports(conn.Err(), told)
		err = p.takeReports(told)
	}
	p.id.Kind, p.id.Start = e.o.Kind, e.o.Name
	if err == nil && o.Ready != nil {
		err = o.Ready(p.id)
	}
	if err == nil {
		_, err = io.WriteString(conn, "go\n")
	}
	if err != nil {
		cleanup()
		_ = conn.Close() // it has not begun
		return nil, fmt.Errorf("start the command: %w", err)
	}
	if err := e.guard.tell(ctx, "+", p.id.PID); err != nil && e.o.Log != nil {
		e.o.Log.Warn("a command would survive this program", "err", err)
	}
	go p.wait(newRelay(c.Output, out), told, cleanup)
	return p, nil
}

// takeReports takes what bootScript says before the command begins.
func (p *process) takeReports(told <-chan report) error {
	for r := range told {
		switch r.tag {
		case 'n':
			return fmt.Errorf("directory of the command: %s does not exist, or may not be entered", r.text)
		case 'f':
			p.exit.Notes = append(p.exit.Notes, fmt.Sprintf("The working directory does not exist any more; the command runs in %s.", r.text))
			p.exit.Dir = r.text
		case 'd':
			p.exit.Dir = r.text
		case 'e':
			return fmt.Errorf("%s: %s", p.env.o.Name, r.text)
		case 'p':
			var err error
			p.id.PID, err = strconv.Atoi(r.text)
			return err
		}
	}
	return fmt.Errorf("%s gave no answer", p.env.o.Name)
}

// readReports reads what terminalScript says before the command begins.
func (p *process) readReports(in *bufio.Reader) error {
	for {
		s, err := in.ReadString(0)
		if err != nil {
			return fmt.Errorf("%s gave no answer: %s", p.env.o.Name, strings.TrimSpace(s))
		}
		s = strings.TrimSuffix(s, "\x00")
		switch {
		case strings.HasPrefix(s, "n:"):
			return fmt.Errorf("directory of the command: %s does not exist, or may not be entered", s[2:])
		case strings.HasPrefix(s, "d:"):
			p.exit.Dir = s[2:]
		case strings.HasPrefix(s, "p:"):
			p.id.PID, err = strconv.Atoi(s[2:])
			return err
		}
	}
}

// wait sees the process through.
func (p *process) wait(out *relay, told <-chan report, cleanup func()) {
	defer close(p.done)
	defer cleanup()
	ctx := context.Background()
	lost := func(err error) {
		p.exit.Reason, p.exit.Code = backend.Lost, backend.CodeLost
		p.exit.Notes = append(p.exit.Notes, fmt.Sprintf("The connection to %s broke while the command ran: %v.", p.env.o.Name, err))
	}
	if p.terminal {
		<-out.done
		code, err := p.conn.Wait()
		if p.exit.Code = code; err != nil {
			lost(err)
		}
		_ = p.env.guard.tell(ctx, "k", p.id.PID) // what it left has no terminal any more
		_ = p.env.guard.tell(ctx, "-", p.id.PID) // as above
		_ = p.conn.Close()                       // it has ended
		return
	}
	ended := false
	for r := range told {
		if r.tag == 'x' {
			code, left, _ := strings.Cut(r.text, ":")
			p.exit.Code, _ = strconv.Atoi(code)
			p.exit.Left, _ = strconv.Atoi(left)
			ended = true
			break
		}
	}
	if !ended {
		_, err := p.conn.Wait()
		if err == nil {
			err = errors.New("its supervisor was killed")
		}
		lost(err)
	}
	if p.exit.Left != 0 {
		// Its children hold the output and still belong to it.
		p.env.awaitGroup(ctx, p.exit.Left, out.done)
		p.exit.Left = 0
	}
	p.exit.Held = !out.drain()
	_ = p.env.guard.tell(ctx, "-", p.id.PID) // it knows one more than there is
	_ = p.conn.Close()                       // it has ended
}

// awaitScript ends when a group has ended. Nobody but the parent is told of an
// end, so it looks.
const awaitScript = `while kill -0 -- "-$1" 2>/dev/null; do sleep 0.2; done`

// awaitGroup returns when a group has ended, or closed says so, or the place
// is gone.
func (e *Env) awaitGroup(ctx context.Context, id int, closed <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gone := make(chan struct{})
	go func() { // ends with the group or the context
		defer close(gone)
		_, _, _ = e.output(ctx, Program{Argv: []string{"sh", "-c", awaitScript, "sh", strconv.Itoa(id)}})
	}()
	select {
	case <-gone:
	case <-closed:
	}
}

func (p *process) ID() backend.ProcessID       { return p.id }
func (p *process) Write(b []byte) (int, error) { return p.conn.Write(b) }
func (p *process) Done() <-chan struct{}       { return p.done }
func (p *process) Exit() backend.Exit          { return p.exit }

func (p *process) CloseInput() error {
	if p.terminal {
		_, err := p.conn.Write([]byte{4})
		return err
	}
	return p.conn.CloseWrite()
}

func (p *process) Kill(ctx context.Context) error {
	return p.env.kill(ctx, p.id.PID, p.done, func() { _ = p.conn.Close() })
}

// kill ends a group and waits for done; letGo is the last resort.
func (e *Env) kill(ctx context.Context, id int, done <-chan struct{}, letGo func()) error {
	select {
	case <-done:
		return nil
	default:
	}
	err := e.guard.tell(ctx, "k", id)
	limit := time.NewTimer(endGrace)
	defer limit.Stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-limit.C:
	}
	letGo()
	if err == nil {
		err = errors.New("it does not end")
	}
	return err
}

// adopted is a group without its leader.
type adopted struct {
	env  *Env
	id   backend.ProcessID
	done chan struct{}
	once sync.Once
	stop context.CancelFunc
}

// Adopt implements backend.Adopter.
func (e *Env) Adopt(group int) (backend.Process, error) {
	ctx, stop := context.WithCancel(context.Background())
	a := &adopted{env: e, id: backend.ProcessID{Kind: e.o.Kind, PID: group, Start: e.o.Name}, done: make(chan struct{}), stop: stop}
	go func() { // ends with the group
		defer close(a.done)
		e.awaitGroup(ctx, group, ctx.Done())
		_ = e.guard.tell(context.Background(), "-", group) // it knows one more than there is
	}()
	return a, nil
}

var errNoInput = errors.New("it takes no input")

func (a *adopted) ID() backend.ProcessID     { return a.id }
func (a *adopted) Write([]byte) (int, error) { return 0, errNoInput }
func (a *adopted) CloseInput() error         { return errNoInput }
func (a *adopted) Done() <-chan struct{}     { return a.done }

// Exit is not known: the process is nobody's child any more.
func (a *adopted) Exit() backend.Exit { return backend.Exit{Reason: backend.Exited} }

func (a *adopted) Kill(ctx context.Context) error {
	return a.env.kill(ctx, a.id.PID, a.done, func() { a.once.Do(a.stop) })
}
