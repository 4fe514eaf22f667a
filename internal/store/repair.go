package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/internal/flock"
	sqlite3 "modernc.org/sqlite/lib"
)

// Repaired says what Repair found and did.
type Repaired struct {
	Problems []string // what the check found; empty: nothing was wrong and nothing done
	Index    bool     // only the search index had to be made anew
	Aside    string   // where the damaged file lies, if a new one took its place
	Sessions int      // what the database holds now
	Messages int
}

// Check looks for damage and returns what it finds, in SQLite's words.
func (d *DB) Check(ctx context.Context) ([]string, error) {
	for try := 1; ; try++ {
		found, err := d.checkOnce(ctx)
		// A vacuum that ends beside us changes the schema's version under the
		// search index, which reads it once: that is no damage.
		if code(err) != sqlite3.SQLITE_SCHEMA || try == 5 {
			return found, err
		}
	}
}

func (d *DB) checkOnce(ctx context.Context) ([]string, error) {
	c, err := dial(ctx, d.dsn())
	if err != nil {
		return problem(err)
	}
	found, err := check(ctx, c)
	return found, errors.Join(err, c.close())
}

// problem tells damage from other errors.
func problem(err error) ([]string, error) {
	if fault(err) == Damaged {
		return []string{err.Error()}, nil
	}
	return nil, fmt.Errorf("check session database: %w", err)
}

func check(ctx context.Context, c *conn) ([]string, error) {
	found, err := texts(ctx, c, "PRAGMA integrity_check(50)")
	if err != nil {
		return problem(err)
	}
	if len(found) == 1 && found[0] == "ok" {
		found = nil
	}
	if found, err = withoutSkew(ctx, c, found); err != nil {
		return problem(err)
	}
	state, err := getMeta(ctx, c, metaIndex)
	if err != nil {
		more, err := problem(err)
		return append(found, more...), err
	}
	if state == "damaged" {
		found = append(found, "the search index was taken out of use")
	}
	return found, nil
}

// withoutSkew leaves out a complaint that is none: releases of SQLite differ in
// how they index text with a NUL, which the original's indexes contain for each
// picture, so that one release finds fault with what another has written.
func withoutSkew(ctx context.Context, c *conn, found []string) ([]string, error) {
	if len(found) == 0 {
		return nil, nil
	}
	foreign, err := texts(ctx, c, `SELECT name FROM sqlite_master WHERE name IN ('messages_fts','messages_fts_trigram') AND sql NOT LIKE '%content=%'`)
	if err != nil {
		return found, err
	}
	return slices.DeleteFunc(found, func(s string) bool {
		return slices.ContainsFunc(foreign, func(name string) bool {
			return strings.HasSuffix(s, "malformed inverted index for FTS5 table main."+name)
		})
	}), nil
}

// Repair mends what Check finds. Damage to the search index is mended in place.
// Otherwise all rows that can still be read, also those that nothing in the
// file leads to any more, go to a new file, which takes the place of the
// damaged one; that one is kept under another name. What was kept beside the
// database is taken in at the end.
func (d *DB) Repair(ctx context.Context) (Repaired, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	out, err := d.repair(ctx)
	if err != nil {
		return out, fmt.Errorf("repair session database: %w", err)
	}
	return out, nil
}

func (d *DB) repair(ctx context.Context) (Repaired, error) {
	var out Repaired
	if d.closed {
		return out, ErrClosed
	}
	lock, err := flock.Acquire(ctx, d.path+".lock")
	if err != nil {
		return out, err
	}
	defer lock.Release()
	if out.Problems, err = d.Check(ctx); err != nil {
		return out, err
	}
	if len(out.Problems) > 0 {
		err := d.rebuildIndex(ctx)
		if out.Index = err == nil; !out.Index {
			d.log.Info("a new search index does not mend the session database", "err", err)
			if out.Aside, err = d.salvage(ctx); err != nil {
				return out, err
			}
		}
	}
	if d.writer == nil {
		if err := d.connect(ctx); err != nil {
			return out, err
		}
	}
	if err := d.takeIn(ctx); err != nil {
		return out, err
	}
	d.trouble = nil
	clear(d.told)
	d.kept = false
	err = d.writer.row(ctx, "SELECT (SELECT count(*) FROM sessions),(SELECT count(*) FROM messages)").Scan(&out.Sessions, &out.Messages)
	return out, err
}

// rebuildIndex makes the search index anew; the error is nil only if that was
// all that was wrong.
func (d *DB) rebuildIndex(ctx context.Context) error {
	c, err := dial(ctx, d.dsn())
	if err != nil {
		return err
	}
	defer func() { _ = c.close() }() // the check below has the last word
	err = c.immediate(ctx, func(ctx context.Context) error {
		if err := dropSearch(ctx, c); err != nil {
			return err
		}
		if err := ensureSearch(ctx, c); err != nil {
			return err
		}
		return c.script(ctx, "DELETE FROM state_meta WHERE key IN (?,?)", metaIndex, metaSchema)
	})
	if err != nil {
		return err
	}
	if err := backfill(ctx, c); err != nil {
		return err
	}
	left, err := check(ctx, c)
	if err == nil && len(left) > 0 {
		err = errors.New(left[0])
	}
	return err
}

// salvage writes what can be read to a new file and puts it in place.
func (d *DB) salvage(ctx context.Context) (aside string, err error) {
	tmp := d.path + ".repairing"
	for _, tail := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(tmp + tail); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	img, err := loadImage(ctx, d.dsn(), d.path)
	if err != nil {
		return "", fmt.Errorf("read damaged file: %w", err)
	}
	n := &DB{path: tmp, log: d.log, now: d.now, known: map[string]Session{}, told: map[Fault]bool{}}
	if err := n.connect(ctx); err != nil {
		return "", err
	}
	err = n.fill(ctx, img.tables())
	if err == nil {
		err = n.writer.script(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err := errors.Join(err, n.disconnect()); err != nil {
		return "", fmt.Errorf("write salvaged rows: %w", err)
	}
	if err := d.disconnect(); err != nil {
		d.log.Warn("close damaged session database", "err", err)
	}
	name := d.path + ".damaged-" + d.now().UTC().Format("20060102-150405")
	aside = name
	for n := 2; ; n++ { // never over one that was put aside before
		if _, err := os.Lstat(aside); errors.Is(err, os.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s-%d", name, n)
	}
	for _, tail := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(d.path+tail, aside+tail); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return aside, os.Rename(tmp, d.path)
}

// fill writes salvaged rows. Rows found twice count once; those of a session
// whose own row is lost get a new one.
func (d *DB) fill(ctx context.Context, tables map[string]*found) error {
	c := d.writer
	insert := func(ctx context.Context, name string) error {
		f := tables[name]
		live, err := liveColumns(ctx, c, name)
		if err != nil || f == nil {
			return err
		}
		for _, r := range f.rows {
			var cols []string
			var args []any
			for i, v := range r.values {
				if i >= len(f.columns) || !live[f.columns[i]] {
					continue
				}
				if v == nil && i == f.key {
					v = r.id
				}
				cols, args = append(cols, f.columns[i]), append(args, v)
			}
			if len(cols) == 0 {
				continue
			}
			q := "INSERT OR IGNORE INTO " + name + "(" + strings.Join(cols, ",") + ") VALUES(" + marks(len(cols)) + ")"
			if err := c.exec(ctx, q, args...); err != nil {
				d.log.Warn("salvaged row left out", "table", name, "row", r.id, "err", err)
			}
		}
		return nil
	}
	if err := c.script(ctx, "PRAGMA foreign_keys=0"); err != nil {
		return err
	}
	err := c.immediate(ctx, func(ctx context.Context) error {
		for _, name := range salvaged {
			if err := insert(ctx, name); err != nil {
				return err
			}
		}
		for _, q := range []string{
			`INSERT OR IGNORE INTO sessions(id,source,started_at) SELECT session_id,'cli',MIN(timestamp) FROM messages
				WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id`,
			"UPDATE sessions SET parent_session_id=NULL WHERE parent_session_id NOT IN (SELECT id FROM sessions)",
			"DELETE FROM message_extra WHERE message_id NOT IN (SELECT id FROM messages)",
			"DELETE FROM undone_messages WHERE session_id NOT IN (SELECT id FROM sessions) OR id IN (SELECT id FROM messages)",
			"DELETE FROM call_effects WHERE session_id NOT IN (SELECT id FROM sessions)",
			"DELETE FROM state_meta WHERE key IN ('" + metaSchema + "','" + metaBackfill + "','" + metaIndex + "')",
		} {
			if err := c.script(ctx, q); err != nil {
				return err
			}
		}
		ids, err := texts(ctx, c, "SELECT id FROM sessions")
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := recount(ctx, c, id); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// BackupName is a name for a backup in dir that tells when it was made.
func (d *DB) BackupName(dir string) string {
	return filepath.Join(dir, strings.TrimSuffix(filepath.Base(d.path), ".db")+"-"+d.now().UTC().Format("20060102-150405")+".db")
}
