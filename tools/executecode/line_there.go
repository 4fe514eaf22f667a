package executecode

import (
	"context"
	"fmt"
	"io"
	"path"
	"sync"

	"github.com/hermes-go/hermes/backend"
)

// there reaches a script somewhere else: a shell beside it passes on what it
// writes into its pipe, and writes the answers into the pipes that it names.
// Nothing is polled.
type there struct {
	dir   string
	files backend.FileSystem
	p     backend.Process
	out   *io.PipeReader

	mu sync.Mutex // an answer is two lines
}

// relayScript is that shell: requests go out by its output, answers come in
// as the name of a pipe and a line.
const relayScript = `exec 3<>"$HERMES_RPC_DIR/rpc"
cat <&3 &
c=$!
while IFS= read -r pipe && IFS= read -r text; do
	[ -p "$HERMES_RPC_DIR/$pipe" ] && printf '%s\n' "$text" >"$HERMES_RPC_DIR/$pipe" &
done
kill $c`

func newThere(ctx context.Context, e backend.Env, fs backend.FileSystem, dir string) (*there, error) {
	sp, ok := e.(backend.Spawner)
	if !ok {
		return nil, backend.ErrNoSpawn
	}
	r, w := io.Pipe()
	made, err := e.Exec(ctx, backend.Cmd{Script: `mkfifo -m 600 "$HERMES_RPC_DIR/rpc"`, Env: []string{"HERMES_RPC_DIR=" + dir}})
	if err != nil {
		return nil, err
	}
	if made.Code != 0 {
		return nil, fmt.Errorf("mkfifo there: exit code %d", made.Code)
	}
	p, err := sp.Spawn(ctx, backend.Cmd{Script: relayScript, Env: []string{"HERMES_RPC_DIR=" + dir}, Output: w}, backend.SpawnOptions{})
	if err != nil {
		return nil, err
	}
	go func() { // ends with the relay
		<-p.Done()
		_ = w.Close() // never fails
	}()
	return &there{dir: dir, files: fs, p: p, out: r}, nil
}

func (t *there) Read(p []byte) (int, error) { return t.out.Read(p) }

func (t *there) take(ctx context.Context, file string) ([]byte, error) {
	name := path.Join(t.dir, file)
	info, err := t.files.Lstat(ctx, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, backend.ErrIrregular
	}
	f, err := t.files.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _, _ = f.Close(), t.files.Remove(ctx, name) }() // it has been read, and its directory goes
	return readAll(f)
}

func (t *there) reply(_ context.Context, pipe string, text []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.p.Write(append([]byte(pipe+"\n"), text...))
	return err
}

func (t *there) close() {
	_ = t.p.Kill(context.Background()) // it passes nothing on any more
	_ = t.out.Close()                  // never fails
}
