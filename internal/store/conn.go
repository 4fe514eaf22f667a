package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// conn is one connection with its prepared statements. It is used by one
// goroutine at a time.
type conn struct {
	pool  *sql.DB
	c     *sql.Conn
	stmts map[string]*sql.Stmt
}

func dial(ctx context.Context, dsn string) (*conn, error) {
	pool, err := openPool(dsn)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	c, err := pool.Conn(ctx)
	if err != nil {
		_ = pool.Close()
		return nil, err
	}
	return &conn{pool: pool, c: c, stmts: map[string]*sql.Stmt{}}, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.c.Close(), c.pool.Close())...)
}

func (c *conn) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) exec(ctx context.Context, query string, args ...any) error {
	_, err := c.execResult(ctx, query, args...)
	return err
}

func (c *conn) execResult(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// change runs an UPDATE of one row and reports ErrNotFound when there is none.
func (c *conn) change(ctx context.Context, query string, args ...any) error {
	res, err := c.execResult(ctx, query, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return ErrNotFound
}

// script runs statements that are not worth keeping prepared.
func (c *conn) script(ctx context.Context, query string, args ...any) error {
	_, err := c.c.ExecContext(ctx, query, args...)
	return err
}

func (c *conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return c.c.QueryRowContext(ctx, query, args...)
}

func (c *conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return c.c.QueryContext(ctx, query, args...)
}

func (c *conn) row(ctx context.Context, query string, args ...any) *sql.Row {
	return c.c.QueryRowContext(ctx, query, args...)
}

const (
	tries   = 15
	minWait = 20 * time.Millisecond
	maxWait = 150 * time.Millisecond
)

// retry runs f until it does not find the database locked by somebody else.
// The waits are uneven, so that processes which met once do not meet again.
func retry(ctx context.Context, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if !isBusy(err) {
			return err
		}
		if n == tries {
			return fmt.Errorf("session database is in use by another process: %w", err)
		}
		t := time.NewTimer(minWait + rand.N(maxWait-minWait))
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
	}
}

// immediate runs f in one transaction that holds the write lock from its
// start. A cancelled ctx ends the waiting, never a transaction half way: what a
// person interrupts is the work, not the record of it.
func (c *conn) immediate(ctx context.Context, f func(ctx context.Context) error) error {
	whole := context.WithoutCancel(ctx)
	return retry(ctx, func() error {
		if err := c.exec(whole, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
		err := f(whole)
		if err == nil {
			err = c.exec(whole, "COMMIT")
		}
		if err != nil {
			// SQLite has rolled back by itself after some errors; then this one
			// has nothing to do and says so.
			_ = c.script(whole, "ROLLBACK")
		}
		return err
	})
}

// code is SQLite's primary result code, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// isIndexFault reports whether a query may have failed for its index alone.
func isIndexFault(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR:
		return true
	}
	return false
}

// isDuplicate reports whether an error is about a key that is there already.
func isDuplicate(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}
