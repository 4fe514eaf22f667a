// Package store keeps sessions and their messages in one SQLite file, the
// `state.db` of a home: every message is on disk when Append returns, several
// processes may share the file, and everything said can be searched. The tables
// are those of the Python original (schema version 11), so that either program
// opens a home the other has written; what the original has no column for lies
// in side tables that it ignores. The package is not a cache and not a model of
// a conversation: what a message means is package chat's matter, and when to
// append, compress or resume is decided by its callers.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// Options says how a database is opened. The zero value is good for use.
type Options struct {
	// Synchronous is "normal" (safe against a killed process, the default) or
	// "full" (safe against a power cut too, at the price of a flush a write).
	Synchronous string
	// Notice is told, once for each kind of trouble, what a person should know:
	// damage found, messages kept beside the database. It may be called from any
	// goroutine and must not call back into the DB.
	Notice func(error)
	// Spare is a folder for messages that can be kept neither in the database nor
	// beside it: the home is read-only, or its disk is full.
	Spare string
	Log   *slog.Logger     // nil: nothing is logged
	Now   func() time.Time // nil: time.Now
}

// DB is an open session database. It is safe for use by many goroutines.
type DB struct {
	path string
	opt  Options
	log  *slog.Logger
	now  func() time.Time

	mu      sync.Mutex // guards the writer: everything below up to the blank line
	writer  *conn
	file    os.FileInfo // the file that is open
	made    bool        // and that this process made
	closed  bool
	known   map[string]Session // sessions made or loaded here, to make them again if somebody deletes them
	trouble *Trouble           // what is wrong now
	told    map[Fault]bool     // what a person has been told
	kept    bool               // and that includes where messages are kept meanwhile

	qmu   sync.Mutex // guards queue
	queue []*waiting // writes whose turn has not come

	rmu     sync.Mutex // guards readers and shape, with mu when they are written
	readers *sql.DB
	shape   shape // which columns and indexes the file has
}

// ErrClosed is returned by every method of a closed DB.
var ErrClosed = errors.New("session database is closed")

// Open opens the database at path and creates it, with its folder, if it is
// not there. Files are made readable by their owner only. A file of an older
// schema is brought up to date; one of a newer schema is used as it is.
//
// A file that is damaged, cannot be written or cannot be opened is no error:
// see Trouble. What is appended then is kept beside it as long as that is
// possible, and reading works as far as the file allows.
func Open(path string, o Options) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open session database: %w", err)
	}
	d := &DB{path: abs, opt: o, log: o.Log, now: o.Now, known: map[string]Session{}, told: map[Fault]bool{}}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.now == nil {
		d.now = time.Now
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx := context.Background()
	err = d.connect(ctx)
	k := fault(err)
	if err != nil && k == "" {
		return nil, fmt.Errorf("open session database %s: %w", abs, err)
	}
	if k != "" {
		d.trouble = &Trouble{Fault: k, Path: abs, Err: err}
		d.tell(d.trouble)
		d.connectReadOnly(ctx)
	}
	return d, nil
}

// Path is the database file's absolute path.
func (d *DB) Path() string { return d.path }

// Close releases the file. What was appended is on disk already.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if d.writer != nil {
		// A checkpoint keeps the next opening quick; if it fails the log is
		// read instead.
		_ = d.writer.exec(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")
	}
	return d.disconnect()
}

// mostLeft is how long the write-ahead log may be for Leave to leave it there. A
// one-shot question writes about a tenth of it; to read all of it when opening
// takes less than half a millisecond, merging it in several of them.
const mostLeft = 1 << 20

// Leave is Close for a process that ends: the housekeeping is left to the next
// opener as long as the log is short, since merging it in costs several flushes
// of the disk. Nothing is at stake: what was appended is as safe in the log as
// it would be after a kill -9, and every reader of the format reads the log. A
// file that was made here is merged in: a copy of it alone is then a database.
func (d *DB) Leave() error {
	d.mu.Lock()
	info, err := os.Stat(d.path + "-wal")
	short := err == nil && info.Size() <= mostLeft && d.trouble == nil && !d.made
	if short && !d.closed {
		d.closed = true
		d.mu.Unlock()
		return nil
	}
	d.mu.Unlock()
	return d.Close()
}

// connect wants d.mu held, like all that follow.
func (d *DB) connect(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return err
	}
	// SQLite would create the file by the umask; its log files take the mode of
	// the database. O_EXCL, since closing a descriptor of a database that this
	// process has open elsewhere would drop its locks.
	f, err := os.OpenFile(d.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		d.made = true
		err = f.Close()
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	w, err := dial(ctx, d.dsn())
	if err != nil {
		return err
	}
	sh, err := ensureSchema(ctx, w)
	if err != nil {
		_ = w.close()
		return err
	}
	if d.file, err = os.Stat(d.path); err != nil {
		_ = w.close()
		return err
	}
	// A reader never makes the file: an empty one in the place of one that was
	// deleted would pass for it.
	if err := d.setReaders(d.dsn()+"&mode=rw", sh); err != nil {
		_ = w.close()
		return err
	}
	d.writer = w
	return d.takeIn(ctx)
}

// connectReadOnly opens what can be read of a file that cannot be written.
func (d *DB) connectReadOnly(ctx context.Context) {
	dsn := d.dsn() + "&mode=ro"
	if wal, err := os.Stat(d.path + "-wal"); err != nil || wal.Size() == 0 {
		// Without a log to heed, SQLite need not create its lock files, which it
		// cannot do in a folder that is read-only.
		dsn += "&immutable=1"
	}
	c, err := dial(ctx, dsn)
	if err != nil {
		return // the trouble is known
	}
	sh, err := inspect(ctx, c)
	if err := errors.Join(err, c.close()); err != nil {
		d.log.Warn("read session database", "path", d.path, "err", err)
		return
	}
	if err := d.setReaders(dsn, sh); err != nil {
		d.log.Warn("read session database", "path", d.path, "err", err)
	}
}

func (d *DB) setReaders(dsn string, sh shape) error {
	r, err := openPool(dsn)
	if err != nil {
		return err
	}
	d.rmu.Lock()
	defer d.rmu.Unlock()
	if d.readers != nil {
		err = d.readers.Close()
	}
	d.readers, d.shape = r, sh
	return err
}

// disconnect wants d.mu held.
func (d *DB) disconnect() error {
	d.rmu.Lock()
	r := d.readers
	d.readers = nil
	d.rmu.Unlock()
	w := d.writer
	d.writer = nil
	var errs []error
	if r != nil {
		errs = append(errs, r.Close())
	}
	if w != nil {
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}

// dsn names the file as a URI, so that any character may stand in a path.
func (d *DB) dsn() string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(d.path)}
	if u.Path[0] != '/' {
		u.Path = "/" + u.Path // a drive letter
	}
	sync := "NORMAL"
	if d.opt.Synchronous == "full" {
		sync = "FULL"
	}
	q := url.Values{"_pragma": {"busy_timeout(1000)", "foreign_keys(1)", "synchronous(" + sync + ")", "temp_store(MEMORY)"}}
	return u.String() + "?" + q.Encode()
}

func openPool(dsn string) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	return db, nil
}

// reader returns the pool that queries run on, beside the one writer.
func (d *DB) reader() (*sql.DB, shape, error) {
	d.rmu.Lock()
	r, sh := d.readers, d.shape
	d.rmu.Unlock()
	if r != nil {
		return r, sh, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.trouble != nil && !d.closed {
		return nil, sh, d.trouble
	}
	return nil, sh, ErrClosed
}
