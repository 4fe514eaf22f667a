package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Prune says which ended sessions are to go. A session that an open one, or
// one that stays, carries on stays with it.
type Prune struct {
	Before   time.Time // those that ended before; zero: no age limit
	Source   string    // only those of one source
	MaxBytes int64     // the oldest until the rest takes no more; 0: no size limit
	DryRun   bool      // only say what would go
}

// Pruned says what has gone.
type Pruned struct {
	Sessions []string
	Messages int
}

// Delete forgets a session and its messages. What was branched or continued
// from it stays, as a session of its own.
func (d *DB) Delete(ctx context.Context, id string) error {
	n, err := d.delete(ctx, id)
	if err == nil && n < 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

// deleteStep is how many messages one transaction takes away: others write
// between two of them.
const deleteStep = 500

// delete returns the number of messages that went, -1 without such a session.
func (d *DB) delete(ctx context.Context, id string) (int, error) {
	total := 0
	for {
		n := 0
		found := false
		err := d.write(ctx, func(ctx context.Context, c *conn) error {
			if _, err := oneSession(ctx, c, id); errors.Is(err, ErrNotFound) {
				return nil
			} else if err != nil {
				return err
			}
			found = true
			res, err := c.execResult(ctx, "DELETE FROM messages WHERE id IN (SELECT id FROM messages WHERE session_id=? LIMIT ?)", id, deleteStep)
			if err != nil {
				return err
			}
			gone, err := res.RowsAffected()
			if err != nil {
				return err
			}
			if n = int(gone); n == deleteStep {
				return nil
			}
			if err := c.exec(ctx, "UPDATE sessions SET parent_session_id=NULL WHERE parent_session_id=?", id); err != nil {
				return err
			}
			return c.exec(ctx, "DELETE FROM sessions WHERE id=?", id)
		})
		if err != nil {
			return total, err
		}
		if !found {
			if total == 0 {
				return -1, nil
			}
			return total, nil
		}
		if total += n; n < deleteStep {
			d.mu.Lock()
			delete(d.known, id)
			d.mu.Unlock()
			return total, d.removeLogs(id)
		}
	}
}

// removeLogs removes the transcripts that the original writes beside the
// database, under both of its names.
func (d *DB) removeLogs(id string) error {
	if id != filepath.Base(id) {
		return nil // an id that is no file name has no such file
	}
	dir := filepath.Join(filepath.Dir(d.path), "sessions")
	for _, name := range []string{"session_" + id + ".json", id + ".json", id + ".jsonl"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Prune deletes ended sessions by age and size, the oldest first.
func (d *DB) Prune(ctx context.Context, p Prune) (Pruned, error) {
	var out Pruned
	err := d.prune(ctx, p, &out)
	if err != nil {
		err = fmt.Errorf("prune sessions: %w", err)
	}
	return out, err
}

func (d *DB) prune(ctx context.Context, p Prune, out *Pruned) error {
	db, _, err := d.reader()
	if err != nil {
		return err
	}
	if !p.Before.IsZero() {
		ids, err := texts(ctx, db, ended(true), epoch(p.Before), p.Source)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := d.pruneOne(ctx, db, id, p.DryRun, out); err != nil {
				return err
			}
		}
	}
	if p.MaxBytes <= 0 {
		return nil
	}
	ids, err := texts(ctx, db, ended(false), nil, p.Source)
	if err != nil {
		return err
	}
	used, err := usedBytes(ctx, db)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if used <= p.MaxBytes {
			break
		}
		if p.DryRun {
			var n int64
			err := db.QueryRowContext(ctx, "SELECT COALESCE(SUM(length(content)),0)*2+count(*)*200 FROM messages WHERE session_id=?", id).Scan(&n)
			if err != nil {
				return err
			}
			used -= n // an estimate: nothing is freed yet
		}
		if err := d.pruneOne(ctx, db, id, p.DryRun, out); err != nil {
			return err
		}
		if !p.DryRun {
			if used, err = usedBytes(ctx, db); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended selects the sessions that may go, oldest first. live are those that
// stay and everything that led to them.
func ended(byAge bool) string {
	old := "ended_at IS NOT NULL"
	if byAge {
		old += " AND ended_at<?1"
	} else {
		old += " AND ?1 IS NULL"
	}
	return `WITH RECURSIVE live(id) AS (
		SELECT parent_session_id FROM sessions WHERE NOT (` + old + `) AND parent_session_id IS NOT NULL
		UNION SELECT s.parent_session_id FROM live JOIN sessions s ON s.id=live.id WHERE s.parent_session_id IS NOT NULL)
	SELECT id FROM sessions WHERE ` + old + ` AND (?2='' OR source=?2) AND id NOT IN (SELECT id FROM live) ORDER BY ended_at,id`
}

func (d *DB) pruneOne(ctx context.Context, q querier, id string, dry bool, out *Pruned) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n := 0
	var err error
	if dry {
		err = q.QueryRowContext(ctx, "SELECT count(*) FROM messages WHERE session_id=?", id).Scan(&n)
	} else {
		// It may have been reopened since it was chosen.
		var open bool
		err = q.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM sessions WHERE id=? AND ended_at IS NULL)", id).Scan(&open)
		if err != nil || open {
			return err
		}
		n, err = d.delete(ctx, id)
	}
	if err != nil {
		return err
	}
	out.Sessions = append(out.Sessions, id)
	out.Messages += max(n, 0)
	return nil
}

// usedBytes is what the file would take without its free pages.
func usedBytes(ctx context.Context, q querier) (int64, error) {
	var n int64
	err := q.QueryRowContext(ctx, `SELECT (page_count-freelist_count)*page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&n)
	return n, err
}

// Vacuum gives free pages back to the file system. Others wait for as long as
// it takes, so that it runs when asked for or after pruning, never by itself.
func (d *DB) Vacuum(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	if err := d.ready(ctx); err != nil {
		return fmt.Errorf("shrink session database: %w", err)
	}
	err := retry(ctx, func() error { return d.writer.script(ctx, "VACUUM") })
	if err == nil {
		err = d.writer.script(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err != nil {
		return fmt.Errorf("shrink session database: %w", err)
	}
	return nil
}
