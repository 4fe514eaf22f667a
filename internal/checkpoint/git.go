package checkpoint

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

func findGit() (string, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return "", ErrNoGit
	}
	return path, nil
}

// run runs git on the store and its tree.
func (r *repo) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return r.runIn(ctx, r.dir, stdin, args...)
}

func (r *repo) runIn(ctx context.Context, dir string, stdin []byte, args ...string) ([]byte, error) {
	var out bytes.Buffer
	err := r.stream(ctx, dir, stdin, &out, args...)
	return out.Bytes(), err
}

// stream is run with the output written as it comes. It ends with the
// store's time limit.
func (r *repo) stream(ctx context.Context, dir string, stdin []byte, out io.Writer, args ...string) error {
	limited, cancel := context.WithTimeout(ctx, r.s.Timeout)
	defer cancel()
	return r.streamFor(limited, dir, stdin, out, args...)
}

// errSlow says that git did not end in time. A tree that is too slow to save
// is not tried again by the same process.
var errSlow = errors.New("it took too long")

// command is git on a store and the tree, not started.
func (r *repo) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, r.git, append([]string{
		"-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "-c", "core.excludesFile=" + os.DevNull, "-c", "core.attributesFile=" + os.DevNull,
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.logAllRefUpdates=false", "-c", "core.quotePath=false",
		"-c", "gc.auto=0", "-c", "commit.gpgSign=false", "-c", "core.untrackedCache=keep",
	}, args...)...)
	c.Env = r.s.gitEnv(dir, r.tree)
	c.Dir = r.tree
	if _, err := os.Stat(r.tree); err != nil { // it is gone, the store is not
		c.Dir = r.s.Dir
	}
	if r.lock != nil && runtime.GOOS != "windows" {
		c.ExtraFiles = []*os.File{r.lock.File()} // if we are killed, the store stays locked until git has ended
	}
	return c
}

func (r *repo) streamFor(ctx context.Context, dir string, stdin []byte, out io.Writer, args ...string) error {
	c := r.command(ctx, dir, args...)
	c.Stdin, c.Stdout = bytes.NewReader(stdin), out
	var complaint bytes.Buffer
	c.Stderr = &complaint
	err := c.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("git %s on %s: %w (%v)", args[0], r.tree, errSlow, r.s.Timeout)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	text := strings.TrimSpace(complaint.String())
	if text == "" {
		text = err.Error()
	}
	return fmt.Errorf("git %s: %s", args[0], text)
}

// gitEnv is an environment without anything of the user's git.
func (s *Store) gitEnv(dir, tree string) []string {
	env := slices.DeleteFunc(slices.Clone(s.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(name) {
		case "PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TMPDIR", "TMP", "TEMP":
			return false
		}
		return true
	})
	return append(env,
		"GIT_DIR="+dir, "GIT_WORK_TREE="+tree, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_LITERAL_PATHSPECS=1", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Hermes Checkpoint", "GIT_AUTHOR_EMAIL=hermes@local", "GIT_COMMITTER_NAME=Hermes Checkpoint", "GIT_COMMITTER_EMAIL=hermes@local",
	)
}

// head is the newest snapshot and its tree; empty when there is none.
func (r *repo) head(ctx context.Context) (commit, tree string, err error) {
	out, err := r.run(ctx, nil, "log", "-1", "--format=%H %T", "HEAD")
	if err != nil { // there is none
		if r.empty() {
			return "", "", ctx.Err()
		}
		return "", "", err
	}
	commit, tree, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	return commit, tree, nil
}

// empty reports whether no snapshot was ever made.
func (r *repo) empty() bool {
	list, err := os.ReadDir(filepath.Join(r.dir, "refs", "heads"))
	_, packed := os.Stat(filepath.Join(r.dir, "packed-refs"))
	return err == nil && len(list) == 0 && packed != nil
}

// blobs reads many files of a store with one git.
type blobs struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (r *repo) blobs(ctx context.Context) (*blobs, error) {
	c := r.command(ctx, r.dir, "cat-file", "--batch")
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &blobs{c, in, bufio.NewReader(out)}, c.Start()
}

func (b *blobs) get(hash string) ([]byte, error) {
	if _, err := io.WriteString(b.in, hash+"\n"); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	var name, kind string
	var size int
	if n, _ := fmt.Sscan(head, &name, &kind, &size); n != 3 || kind != "blob" {
		return nil, fmt.Errorf("the store lacks a file: git cat-file answers %q", strings.TrimSpace(head))
	}
	data := make([]byte, size+1) // a line end follows
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return data[:size], nil
}

func (b *blobs) close() error { return errors.Join(b.in.Close(), b.cmd.Wait()) }
