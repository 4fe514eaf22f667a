package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// relay moves output from a reader that has no deadlines, and can be told to
// stop: what arrives afterwards is dropped.
type relay struct {
	mu   sync.Mutex
	to   io.Writer
	done chan struct{}
}

func newRelay(w io.Writer, r io.Reader) *relay {
	l := &relay{to: w, done: make(chan struct{})}
	go func() { // ends with the connection
		defer close(l.done)
		buf := make([]byte, 64<<10)
		for {
			n, err := r.Read(buf)
			if n > 0 {
				l.write(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return l
}

// write passes bytes on. After the writer failed, reading goes on: a command
// must not stop because nobody listens.
func (l *relay) write(p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		return
	}
	if _, err := l.to.Write(p); err != nil {
		l.to = nil
	}
}

// drain takes what the command has written by the time it ended, and cuts
// whoever still holds the output off. The answer is false then.
func (l *relay) drain() bool {
	t := time.NewTimer(lateOutput)
	defer t.Stop()
	select {
	case <-l.done:
		return true
	case <-t.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = nil
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// collectOpen is collect for a program whose input is fed by somebody else.
func collectOpen(ctx context.Context, c Conn) ([]byte, int, error) {
	defer func() { _ = c.Close() }() // it has ended, or is given up
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	var wg sync.WaitGroup
	var out, said []byte
	var err error
	wg.Go(func() { said, _ = io.ReadAll(c.Err()) })
	out, err = io.ReadAll(c.Out())
	wg.Wait()
	code, waitErr := c.Wait()
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	return append(out, said...), code, errors.Join(err, waitErr)
}

// randomName is a name that nobody else has.
func randomName() string { return strings.ToLower(rand.Text()[:12]) }
