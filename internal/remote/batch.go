package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/internal/shellstate"
)

// Runner runs one command to its end, as services with an HTTP interface do:
// input is there from the beginning, and all output comes at once.
type Runner interface {
	// Run runs shell text. An error means that nobody knows what became of it,
	// unless it wraps ErrNotStarted.
	Run(ctx context.Context, command string, input []byte, limit time.Duration) (output []byte, code int, err error)
}

// ErrNotStarted says that a command certainly did not begin.
var ErrNotStarted = errors.New("the command was not started")

// Batch makes a Place of a Runner.
func Batch(r Runner) Place { return batch{r} }

type batch struct{ runner Runner }

// batchScript keeps the two outputs apart, where there is only one: after
// a mark comes what the program told on its second one.
const batchScript = `t=$(mktemp) || exit 125
%s sh -c %s sh%s 2>"$t"
c=$?
printf '\n%%s\n' %s
cat "$t"; rm -f "$t"
exit $c`

func (b batch) Start(ctx context.Context, p Program) (Conn, error) {
	if p.Terminal {
		return nil, errors.New("there are no terminals there")
	}
	mark := "hermes-" + rand.Text()
	var args strings.Builder
	for _, a := range p.Argv {
		args.WriteString(" " + shellstate.Quote(a))
	}
	bound := ""
	if p.Limit > 0 {
		bound = fmt.Sprintf("$(command -v timeout >/dev/null && echo timeout -k 2 %d)", int(p.Limit.Seconds()+1))
	}
	var env strings.Builder
	for _, v := range p.Env {
		name, value, _ := strings.Cut(v, "=")
		env.WriteString("export " + name + "=" + shellstate.Quote(value) + "\n")
	}
	const before = `IFS= read -r e; eval "$(printf %b "$e")"; unset e; exec "$@"`
	c := &batchConn{runner: b.runner, mark: "\n" + mark + "\n", limit: p.Limit, done: make(chan struct{})}
	c.command = fmt.Sprintf(batchScript, bound, shellstate.Quote(before), args.String(), mark)
	c.input.WriteString(Octal(env.String()) + "\n")
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.outR, c.outW = io.Pipe()
	c.errR, c.errW = io.Pipe()
	return c, nil
}

// batchConn gathers the input; its end is what starts the program.
type batchConn struct {
	runner  Runner
	command string
	mark    string
	limit   time.Duration
	ctx     context.Context
	cancel  context.CancelFunc

	mu    sync.Mutex
	input bytes.Buffer
	once  sync.Once

	outR, errR *io.PipeReader
	outW, errW *io.PipeWriter
	done       chan struct{}
	code       int
	err        error
}

func (c *batchConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.input.Write(p)
}

func (c *batchConn) CloseWrite() error {
	c.once.Do(func() {
		c.mu.Lock()
		in := bytes.Clone(c.input.Bytes())
		c.mu.Unlock()
		go c.run(in)
	})
	return nil
}

func (c *batchConn) run(in []byte) {
	defer close(c.done)
	all, code, err := c.runner.Run(c.ctx, c.command, in, c.limit)
	c.code, c.err = code, err
	out, told, ok := bytes.Cut(all, []byte(c.mark))
	if !ok && err == nil {
		told = nil // it broke off before it could say how
	}
	_, _ = c.outW.Write(out)  // to whoever still reads
	_ = c.outW.Close()        // never fails
	_, _ = c.errW.Write(told) // as above
	_ = c.errW.Close()        // as above
}

func (c *batchConn) Out() io.Reader { return c.outR }
func (c *batchConn) Err() io.Reader { return c.errR }

func (c *batchConn) Wait() (int, error) {
	<-c.done
	return c.code, c.err
}

func (c *batchConn) Close() error {
	c.cancel()
	c.once.Do(func() { close(c.done) })   // it never began
	_, _ = c.outR.Close(), c.errR.Close() // never fails
	return nil
}
