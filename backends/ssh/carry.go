package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// carrier brings credential files to the machine before the first command, and
// what was changed of them there back when the environment closes.
type carrier struct {
	files *files
	o     backend.Options
	names []string

	mu     sync.Mutex
	pushed map[string][]byte // content by the name of the file here
	there  map[string]string // its name there
}

// bring is called before the first command.
func (c *carrier) bring(ctx context.Context, home string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pushed == nil {
		c.pushed, c.there = map[string][]byte{}, map[string]string{}
	}
	for _, name := range c.o.Credentials(c.names) {
		file, err := backend.CredentialFile(c.o.Home, name)
		if err != nil {
			if c.o.Log != nil {
				c.o.Log.Warn("terminal.credential_files", "err", err)
			}
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("bring %s over: %w", name, err)
		}
		to := path.Join(home, ".hermes", filepath.ToSlash(name))
		if err := c.files.Mkdir(ctx, path.Dir(to)); err != nil {
			return fmt.Errorf("bring %s over: %w", name, err)
		}
		if err := c.files.WriteFile(ctx, to, b, backend.WriteOptions{Mode: 0o600}); err != nil {
			return fmt.Errorf("bring %s over: %w", name, err)
		}
		c.pushed[file], c.there[file] = b, to
	}
	return nil
}

// fetch brings back what was changed there. What was changed here as well
// gives way, and is kept beside; a file that cannot be put in its place is kept
// too, and named.
func (c *carrier) fetch(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for file, was := range c.pushed {
		now, err := c.read(ctx, c.there[file])
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed there: the one here stays
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("bring %s back: %w", file, err))
			continue
		}
		if bytes.Equal(now, was) {
			continue
		}
		if err := putBack(file, was, now); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c *carrier) read(ctx context.Context, name string) ([]byte, error) {
	f, err := c.files.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// putBack writes beside and renames. The new file is closed before that: some
// systems rename no open file.
func putBack(file string, was, now []byte) error {
	if have, err := os.ReadFile(file); err == nil && !bytes.Equal(have, was) {
		if err := os.WriteFile(file+".mine", have, 0o600); err != nil {
			return fmt.Errorf("bring %s back: it was changed here too: %w", file, err)
		}
	}
	tmp := fmt.Sprintf("%s.remote-%d", file, time.Now().UnixNano())
	if err := os.WriteFile(tmp, now, 0o600); err != nil {
		return fmt.Errorf("bring %s back: %w", file, err)
	}
	if err := os.Rename(tmp, file); err != nil {
		return fmt.Errorf("bring %s back: %w: what was changed there is kept as %s", file, err, tmp)
	}
	return nil
}
