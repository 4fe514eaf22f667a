package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/hermes-go/hermes/internal/remote"
	"github.com/hermes-go/hermes/internal/shellstate"
)

// maxSessions is how many programs share a connection; servers allow ten
// unless they say otherwise.
const maxSessions = 8

// machine starts programs over connections that it keeps.
type machine struct {
	target target

	mu     sync.Mutex
	links  []*link
	closed bool
}

// link is a connection with what runs over it.
type link struct {
	client *ssh.Client
	used   int
	gone   chan struct{}
}

func (l *link) broken() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// link finds a connection that has room, or makes one.
func (m *machine) link(ctx context.Context) (*link, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, errors.New("the connection has been closed")
	}
	kept := m.links[:0]
	for _, l := range m.links {
		if !l.broken() {
			kept = append(kept, l)
		}
	}
	m.links = kept
	for _, l := range m.links {
		if l.used < maxSessions {
			l.used++
			return l, nil
		}
	}
	client, err := m.target.dial(ctx)
	if err != nil {
		return nil, err
	}
	l := &link{client: client, used: 1, gone: make(chan struct{})}
	go func() { defer close(l.gone); _ = client.Wait() }() // ends with the connection
	m.links = append(m.links, l)
	return l, nil
}

func (m *machine) release(l *link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.used--
}

func (m *machine) close(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, l := range m.links {
		_ = l.client.Close() // what ran over it has ended
	}
	m.links = nil
	return nil
}

// The environment comes as a line of input, because a command line can be read
// by everybody there, and servers take no variables by themselves.
//
// What the login runs first has the same input: when it took a part of the line,
// nothing begins, rather than something with another environment.
const (
	readEnv        = `IFS= read -r e; case $e in e:*.) e=${e#e:} e=${e%.} ;; *) exit 125 ;; esac; `
	envScript      = readEnv + `eval "$(printf %b "$e")"; unset e; exec "$@"`
	envTerminal    = readEnv + `stty icanon; eval "$(printf %b "$e")"; unset e; exec "$@"`
	withoutChanges = `exec "$@"`
)

// Start implements remote.Place.
func (m *machine) Start(ctx context.Context, p remote.Program) (remote.Conn, error) {
	for try := 0; ; try++ {
		l, err := m.link(ctx)
		if err != nil {
			return nil, err
		}
		s, err := l.client.NewSession()
		if err == nil {
			c, err := m.start(l, s, p)
			if err == nil {
				return c, nil
			}
			_ = s.Close() // nothing was begun
			m.release(l)
			if try > 1 || !l.broken() {
				return nil, fmt.Errorf("ssh to %s: %w", m.target, err)
			}
			continue
		}
		// The connection has broken, or the server allows fewer at once.
		m.mu.Lock()
		l.used = maxSessions
		m.mu.Unlock()
		if try > 1 {
			return nil, fmt.Errorf("ssh to %s: %w", m.target, err)
		}
	}
}

func (m *machine) start(l *link, s *ssh.Session, p remote.Program) (*conn, error) {
	in, err := s.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.StdoutPipe()
	if err != nil {
		return nil, err
	}
	errs, err := s.StderrPipe()
	if err != nil {
		return nil, err
	}
	before := withoutChanges
	if len(p.Env) > 0 {
		before = envScript
	}
	if p.Terminal {
		before = envTerminal
		// A line of input longer than a terminal takes must pass.
		if err := s.RequestPty("xterm-256color", p.Rows, p.Cols, ssh.TerminalModes{ssh.ECHO: 0, ssh.ICANON: 0}); err != nil {
			return nil, err
		}
	}
	var line strings.Builder
	line.WriteString("exec sh -c " + shellstate.Quote(before) + " sh")
	if before == withoutChanges {
		line.Reset()
		line.WriteString("exec")
	}
	for _, a := range p.Argv {
		line.WriteString(" " + shellstate.Quote(a))
	}
	if err := s.Start(line.String()); err != nil {
		return nil, err
	}
	if before != withoutChanges {
		var text strings.Builder
		for _, v := range p.Env {
			name, value, _ := strings.Cut(v, "=")
			text.WriteString("export " + name + "=" + shellstate.Quote(value) + "\n")
		}
		if _, err := io.WriteString(in, "e:"+remote.Octal(text.String())+".\n"); err != nil {
			return nil, err
		}
	}
	return &conn{machine: m, link: l, session: s, in: in, out: out, err: errs}, nil
}

// conn is the way to a program there.
type conn struct {
	machine  *machine
	link     *link
	session  *ssh.Session
	in       io.WriteCloser
	out, err io.Reader
	once     sync.Once
}

func (c *conn) Write(p []byte) (int, error) { return c.in.Write(p) }
func (c *conn) CloseWrite() error           { return c.in.Close() }
func (c *conn) Out() io.Reader              { return c.out }
func (c *conn) Err() io.Reader              { return c.err }

func (c *conn) Wait() (int, error) {
	err := c.session.Wait()
	var exit *ssh.ExitError
	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &exit):
		return exit.ExitStatus(), nil
	case c.link.broken():
		return 0, fmt.Errorf("the connection to %s has ended", c.machine.target)
	}
	return 0, err
}

func (c *conn) Close() error {
	err := c.session.Close()
	c.once.Do(func() { c.machine.release(c.link) })
	if errors.Is(err, io.EOF) {
		return nil // it was closed by the other side
	}
	return err
}
