package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Copy writes a consistent copy of any SQLite file to a file that is not there
// yet, through the driver, even while others write. Unlike Backup it neither
// makes nor changes anything in the file. Damage is reported as a *Trouble.
func Copy(ctx context.Context, from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("copy database: %s is there already", to)
	}
	abs, err := filepath.Abs(from)
	if err != nil {
		return fmt.Errorf("copy database: %w", err)
	}
	if _, err := os.Stat(abs); err != nil {
		return fmt.Errorf("copy database: %w", err) // opening it would make an empty one
	}
	d := &DB{path: abs}
	err = d.copyBy(ctx, d.dsn(), to)
	if k := fault(err); k == ReadOnly || k == Unreachable {
		dsn := d.dsn() + "&mode=ro"
		if wal, statErr := os.Stat(abs + "-wal"); statErr != nil || wal.Size() == 0 {
			dsn += "&immutable=1" // see connectReadOnly
		}
		err = d.copyBy(ctx, dsn, to)
	}
	if k := fault(err); k == Damaged {
		return &Trouble{Fault: k, Path: abs, Err: err}
	}
	if err != nil {
		return fmt.Errorf("copy database %s: %w", abs, err)
	}
	return nil
}

func (d *DB) copyBy(ctx context.Context, dsn, to string) error {
	c, err := dial(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(d.copyTo(ctx, c, to), c.close())
}
