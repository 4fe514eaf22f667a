package remote

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// guard is a shell at the place that knows the process groups of commands. It
// ends one when it is told to, and all of them when the way to this program
// breaks, which it sees as the end of its input: a program that was killed
// cannot do that itself.
type guard struct {
	env *Env

	mu     sync.Mutex
	conn   Conn
	groups map[int]struct{}
	closed bool
}

// guardScript reads "+ ID", "- ID" and "k ID".
const guardScript = `exec >/dev/null 2>&1
end() {
	kill -s TERM -- "-$1"; kill -s CONT -- "-$1"
	for _ in 1 2 3 4 5 6 7 8 9 10; do kill -s 0 -- "-$1" || return; sleep 0.1; done
	kill -s KILL -- "-$1"
}
all=
while read -r what id; do
	case $what in
	+) all="$all $id" ;;
	-) rest=; for i in $all; do [ "$i" = "$id" ] || rest="$rest $i"; done; all=$rest ;;
	k) end "$id" & ;;
	esac
done
for i in $all; do end "$i" & done
wait`

// tell sends a line, to a new guard if the old one is gone.
func (g *guard) tell(ctx context.Context, what string, id int) error {
	if g.env.o.Batch {
		return nil // a service that runs commands to their end ends them too
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch what {
	case "+":
		if g.groups == nil {
			g.groups = map[int]struct{}{}
		}
		g.groups[id] = struct{}{}
	case "-":
		delete(g.groups, id)
	}
	if g.closed {
		return errClosed
	}
	if g.conn != nil {
		if _, err := fmt.Fprintf(g.conn, "%s %d\n", what, id); err == nil {
			return nil
		}
		_ = g.conn.Close() // it is broken already
		g.conn = nil
	}
	c, err := g.env.o.Place.Start(context.WithoutCancel(ctx), Program{Argv: []string{"sh", "-c", guardScript}})
	if err != nil {
		return fmt.Errorf("watch over the command: %w", err)
	}
	go func() { // ends with the connection
		_, _ = io.Copy(io.Discard, c.Out())
	}()
	go func() { _, _ = io.Copy(io.Discard, c.Err()) }()
	g.conn = c
	for have := range g.groups {
		if what == "+" && have == id {
			continue
		}
		if _, err := fmt.Fprintf(c, "+ %d\n", have); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(c, "%s %d\n", what, id)
	return err
}

// close ends the guard, and with it all that it knows of.
func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	if g.conn != nil {
		_ = g.conn.CloseWrite() // its sign to end everything
		if len(g.groups) > 0 {
			_, _ = g.conn.Wait() // it does not matter how
		}
		_ = g.conn.Close() // as above
		g.conn = nil
	}
}
