package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hermes-go/hermes/internal/flock"
)

// writeLocked is write for who holds d.mu.
func (d *DB) writeLocked(ctx context.Context, f func(ctx context.Context, c *conn) error) error {
	if d.closed {
		return ErrClosed
	}
	err := d.ready(ctx)
	if err == nil {
		err = d.writer.immediate(ctx, func(ctx context.Context) error { return f(ctx, d.writer) })
	}
	if err != nil {
		if k := fault(err); k != "" {
			d.trouble = &Trouble{Fault: k, Path: d.path, Err: err}
			return d.trouble
		}
		return err
	}
	if d.trouble != nil && d.trouble.Fault != IndexDamaged {
		if d.trouble.Fault != Damaged { // damage stays, even where one write goes well
			delete(d.told, d.trouble.Fault)
			d.kept = false
		}
		d.trouble = nil
	}
	return nil
}

// ready makes sure that the writer writes to the file that bears the name, and
// that nothing waits in the spool.
func (d *DB) ready(ctx context.Context) error {
	if d.writer == nil {
		return d.connect(ctx)
	}
	now, err := os.Stat(d.path)
	switch {
	case err == nil && os.SameFile(now, d.file):
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	default:
		if err := d.rescue(ctx); err != nil {
			return err
		}
	}
	if d.trouble != nil {
		return d.takeIn(ctx)
	}
	return nil
}

// read runs f against one state of the database. One that was deleted under us
// is put back first.
func (d *DB) read(ctx context.Context, f func(q querier, sh shape) error) error {
	err := d.readOnce(ctx, f)
	if _, told := errors.AsType[*Trouble](err); err == nil || told || ctx.Err() != nil {
		return err
	}
	if fault(err) == Unreachable && d.putBack(ctx) {
		if err = d.readOnce(ctx, f); err == nil {
			return nil
		}
	}
	if k := fault(err); k != "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		t := &Trouble{Fault: k, Path: d.path, Err: err}
		d.tell(t)
		return t
	}
	return err
}

// glance is read for a question that is answered at once. It is asked on the
// writing connection, since a program that only writes has no other: opening
// one more takes a millisecond.
func (d *DB) glance(ctx context.Context, f func(q querier, sh shape) error) error {
	d.rmu.Lock()
	sh := d.shape
	d.rmu.Unlock()
	d.mu.Lock()
	if d.closed || d.trouble != nil || d.ready(ctx) != nil {
		d.mu.Unlock()
		return d.read(ctx, f)
	}
	err := f(d.writer, sh)
	d.mu.Unlock()
	if fault(err) != "" {
		return d.read(ctx, f)
	}
	return err
}

func (d *DB) readOnce(ctx context.Context, f func(q querier, sh shape) error) error {
	db, sh, err := d.reader()
	if err != nil {
		return err
	}
	return snapshot(ctx, db, func(q querier) error { return f(q, sh) })
}

// putBack says that the file was gone, and is there again.
func (d *DB) putBack(ctx context.Context) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.writer == nil || d.closed {
		return false
	}
	if _, err := os.Stat(d.path); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	return d.ready(ctx) == nil
}

// save runs insert, which appends rows. When the file does not take them they
// go to the spool, and a person is told: a chat does not end because its log
// does.
func (d *DB) save(ctx context.Context, id string, rows []rawRow, insert func(context.Context, *conn) error) error {
	return d.share(&waiting{ctx: ctx, f: insert, alone: func() error { return d.saveAlone(ctx, id, rows, insert) }})
}

// saveAlone wants d.mu held.
func (d *DB) saveAlone(ctx context.Context, id string, rows []rawRow, insert func(context.Context, *conn) error) error {
	err := d.writeLocked(ctx, insert)
	t, ok := errors.AsType[*Trouble](err)
	if isDuplicate(err) {
		// New rows have new ids: only an index that is out of joint says this.
		t, ok = &Trouble{Fault: Damaged, Path: d.path, Err: err}, true
		d.trouble = t
	}
	if !ok {
		return err
	}
	if t.Fault == Damaged && d.writer != nil {
		// It may be the index alone: without its triggers the message is safe.
		var done []string
		err := d.writer.immediate(ctx, func(ctx context.Context) (err error) {
			if err := dropTriggers(ctx, d.writer); err != nil {
				return err
			}
			if err := setMeta(ctx, d.writer, metaIndex, "damaged"); err != nil {
				return err
			}
			if done, err = d.takeAll(ctx); err != nil {
				return err
			}
			return insert(ctx, d.writer)
		})
		if err == nil {
			d.dropFiles(done)
			t.Fault = IndexDamaged
			d.tell(t)
			return nil
		}
	}
	return d.spool(t, id, rows)
}

// spool wants d.mu held.
func (d *DB) spool(t *Trouble, id string, rows []rawRow) error {
	s, ok := d.known[id]
	if !ok {
		s = Session{ID: id, Source: "cli", Started: d.now()}
	}
	path, err := d.keep(s, rows)
	t.Spool, t.lost = path, err != nil
	if !d.kept {
		delete(d.told, t.Fault) // what becomes of the messages was not said yet
	}
	d.kept = true
	d.tell(t)
	if err != nil {
		return fmt.Errorf("%w; nor can messages be kept beside it: %w", t, err)
	}
	return nil
}

// rescue is for a file that is no longer the one that was opened. If the name
// is free, the whole database is written there again from the open file; if
// another file bears it, that one is used, and the sessions in hand are carried
// over when it lacks them.
func (d *DB) rescue(ctx context.Context) error {
	lock, err := flock.Acquire(ctx, d.path+".lock")
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := os.Stat(d.path); errors.Is(err, os.ErrNotExist) {
		// Logs of the deleted file must not meet the new one.
		for _, tail := range []string{"-wal", "-shm"} {
			if err := os.Remove(d.path + tail); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
		if err := d.copyTo(ctx, d.writer, d.path); err != nil {
			return fmt.Errorf("put deleted database back: %w", err)
		}
		delete(d.told, Gone)
		d.tell(&Trouble{Fault: Gone, Path: d.path})
	}
	carried := d.inHand(ctx)
	if err := d.disconnect(); err != nil {
		d.log.Warn("close deleted session database", "err", err)
	}
	if err := d.connect(ctx); err != nil {
		return err
	}
	return d.writer.immediate(ctx, func(ctx context.Context) error {
		for i := range carried {
			if err := carried[i].carryOver(ctx, d.writer); err != nil {
				return err
			}
		}
		return nil
	})
}

// inHand reads the sessions this process works on from the open file.
func (d *DB) inHand(ctx context.Context) []line {
	var out []line
	for id := range d.known {
		s, err := oneSession(ctx, d.writer, id)
		if err != nil {
			continue // nothing of it was written
		}
		rows, err := rawRows(ctx, d.writer, d.shape, id)
		if err != nil {
			d.log.Warn("read session of a deleted database", "session", id, "err", err)
			continue
		}
		out = append(out, toLine(s, rows))
	}
	return out
}

// carryOver adds what the database lacks of a session: all of it, or the
// messages after the last one it has.
func (l *line) carryOver(ctx context.Context, c *conn) error {
	_, err := oneSession(ctx, c, l.ID)
	if errors.Is(err, ErrNotFound) {
		return l.insert(ctx, c)
	}
	if err != nil {
		return err
	}
	var last int64
	if err := c.row(ctx, "SELECT COALESCE(MAX(id),0) FROM messages WHERE session_id=?", l.ID).Scan(&last); err != nil {
		return err
	}
	for i := range l.Messages {
		if r := l.Messages[i].row(); r.id > last {
			if err := insertRow(ctx, c, l.ID, r.at, &r.row); err != nil {
				return err
			}
		}
	}
	return recount(ctx, c, l.ID)
}

// copyTo writes the whole database as c sees it into a new file. The name
// appears when the file is complete.
func (d *DB) copyTo(ctx context.Context, c *conn, path string) error {
	tmp := path + ".copying"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp) }() // gone already when all went well
	if err := retry(ctx, func() error { return c.script(ctx, "VACUUM INTO ?", tmp) }); err != nil {
		return err
	}
	if f, err = os.OpenFile(tmp, os.O_RDWR, 0); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// Backup writes a copy of the whole database, consistent even while others
// write, to a file that is not there yet.
func (d *DB) Backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("back up session database: %s is there already", path)
	}
	c, err := dial(ctx, d.dsn())
	if err != nil {
		return fmt.Errorf("back up session database: %w", err)
	}
	if err := errors.Join(d.copyTo(ctx, c, path), c.close()); err != nil {
		return fmt.Errorf("back up session database: %w", err)
	}
	return nil
}
