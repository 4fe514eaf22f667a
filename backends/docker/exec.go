package docker

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/hermes-go/hermes/internal/remote"
)

// Start implements remote.Place: a program in the task's container, which is
// made or started when it is not there.
func (c *container) Start(ctx context.Context, p remote.Program) (remote.Conn, error) {
	for try := 0; ; try++ {
		id, err := c.running(ctx)
		if err != nil {
			return nil, err
		}
		conn, err := c.exec(ctx, id, p)
		if err == nil {
			return conn, nil
		}
		// Somebody stopped or removed it.
		if try > 0 || !isStatus(err, http.StatusNotFound) && !isStatus(err, http.StatusConflict) {
			return nil, err
		}
		c.forget(id)
	}
}

func (c *container) exec(ctx context.Context, id string, p remote.Program) (*conn, error) {
	var made struct{ ID string }
	body := map[string]any{
		"AttachStdin": true, "AttachStdout": true, "AttachStderr": true, "Tty": p.Terminal, "Cmd": p.Argv, "Env": p.Env,
	}
	if err := c.engine.call(ctx, http.MethodPost, "/containers/"+id+"/exec", body, &made); err != nil {
		return nil, err
	}
	nc, in, err := c.engine.hijack(ctx, "/exec/"+made.ID+"/start", map[string]any{"Tty": p.Terminal})
	if err != nil {
		return nil, err
	}
	k := &conn{engine: c.engine, id: made.ID, net: nc, ended: make(chan struct{})}
	if p.Terminal {
		// The program waits for a line, so it sees its terminal only with this size.
		if err := c.engine.call(ctx, http.MethodPost, fmt.Sprintf("/exec/%s/resize?w=%d&h=%d", made.ID, p.Cols, p.Rows), nil, nil); err != nil {
			_ = nc.Close() // it has not begun
			return nil, fmt.Errorf("size of the terminal: %w", err)
		}
		k.out, k.err = in, eof{}
		close(k.ended)
		return k, nil
	}
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	k.out, k.err, k.outW, k.errW = outR, errR, outW, errW
	go k.split(in)
	return k, nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// conn is the way to a program in a container.
type conn struct {
	engine     *engine
	id         string
	net        net.Conn
	out, err   io.Reader
	outW, errW *io.PipeWriter
	ended      chan struct{} // closed once both outputs have ended
}

// split takes the two outputs apart: each piece has a header of eight bytes,
// the first says which, the last four how long.
func (k *conn) split(in *bufio.Reader) {
	defer close(k.ended)
	var head [8]byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			break
		}
		to := k.outW
		if head[0] == 2 {
			to = k.errW
		}
		if _, err := io.CopyN(to, in, int64(binary.BigEndian.Uint32(head[4:]))); err != nil {
			break
		}
	}
	_, _ = k.outW.Close(), k.errW.Close() // never fails
}

func (k *conn) Write(p []byte) (int, error) { return k.net.Write(p) }
func (k *conn) Out() io.Reader              { return k.out }
func (k *conn) Err() io.Reader              { return k.err }

func (k *conn) CloseWrite() error {
	if c, ok := k.net.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return errors.New("the connection cannot be closed by half")
}

// looks is how often and for how long the engine is asked how a program ended
// whose output has: it learns of it a moment later.
const (
	lookEvery = 20 * time.Millisecond
	lookMost  = 100
)

func (k *conn) Wait() (int, error) {
	<-k.ended
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for range lookMost {
		var state struct {
			Running  bool
			ExitCode *int
		}
		if err := k.engine.call(ctx, http.MethodGet, "/exec/"+k.id+"/json", nil, &state); err != nil {
			return 0, err
		}
		if !state.Running && state.ExitCode != nil {
			return *state.ExitCode, nil
		}
		time.Sleep(lookEvery)
	}
	return 0, errors.New("the connection to the container broke")
}

func (k *conn) Close() error {
	err := k.net.Close()
	if k.outW != nil {
		// Nobody reads any more: the copying must not wait.
		_ = k.out.(*io.PipeReader).Close() // never fails
		_ = k.err.(*io.PipeReader).Close() // as above
	}
	return err
}
