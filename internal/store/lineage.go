package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	maxHops  = 100 // compressions followed from one session
	maxSteps = 32  // children tried below a session without messages
)

// Resolve finds the session that ref names: an id, else a title (of the
// sessions `Name`, `Name #2`, ... the newest number), else the beginning of
// exactly one id. The error wraps ErrNotFound or ErrAmbiguous.
func (d *DB) Resolve(ctx context.Context, ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	id, err := d.text(ctx, func(q querier) (string, error) { return resolve(ctx, q, ref) })
	if err != nil {
		return "", fmt.Errorf("session %q: %w", ref, err)
	}
	return id, nil
}

func resolve(ctx context.Context, q querier, ref string) (string, error) {
	if ref == "" {
		return "", ErrNotFound
	}
	var id string
	err := q.QueryRowContext(ctx, "SELECT id FROM sessions WHERE id=?", ref).Scan(&id)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	if id, err = byTitle(ctx, q, ref); err != nil || id != "" {
		return id, err
	}
	ids, err := texts(ctx, q, "SELECT id FROM sessions WHERE substr(id,1,length(?1))=?1 ORDER BY started_at DESC LIMIT 4", ref)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", ErrNotFound
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(ids, ", "))
}

// byTitle returns the newest session of a title's line, or "".
func byTitle(ctx context.Context, q querier, title string) (string, error) {
	clean, err := cleanTitle(title)
	if err != nil || clean == "" {
		return "", nil // no title can look like this
	}
	newest, err := lastOfLine(ctx, q, clean)
	if err != nil || newest == 0 {
		return "", err
	}
	if newest > 1 {
		clean += " #" + strconv.Itoa(newest)
	}
	return titleOwner(ctx, q, clean)
}

// lastOfLine is the highest number among `base` (which has 1), `base #2`, ...;
// 0 when there is none. The titles are read from their index alone, and as a
// range ("$" follows "#"), since LIKE would read every session.
func lastOfLine(ctx context.Context, q querier, base string) (int, error) {
	titles, err := texts(ctx, q, "SELECT title FROM sessions WHERE title=?1 UNION ALL SELECT title FROM sessions WHERE title>?1||' #' AND title<?1||' $'", base)
	last := 0
	for _, title := range titles {
		if b, n := splitTitle(title); title == base {
			last = max(last, 1)
		} else if b == base {
			last = max(last, n)
		}
	}
	return last, err
}

// splitTitle parts `Name #3` into its base and number; a plain name has 1.
func splitTitle(title string) (string, int) {
	i := strings.LastIndex(title, " #")
	if i <= 0 {
		return title, 1
	}
	n, err := strconv.Atoi(title[i+2:])
	if err != nil || n < 2 || strconv.Itoa(n) != title[i+2:] {
		return title, 1
	}
	return title[:i], n
}

// NextTitle is the title that continues title's line: `Name` gives `Name #2`,
// or the number after the highest there is.
func (d *DB) NextTitle(ctx context.Context, title string) (string, error) {
	next, err := d.text(ctx, func(q querier) (string, error) { return nextTitle(ctx, q, title) })
	if err != nil {
		return "", fmt.Errorf("next title after %q: %w", title, err)
	}
	return next, nil
}

func nextTitle(ctx context.Context, q querier, title string) (string, error) {
	base, n := splitTitle(title)
	last, err := lastOfLine(ctx, q, base)
	if err != nil {
		return "", err
	}
	tail := " #" + strconv.Itoa(max(n, last)+1)
	if r := []rune(base); len(r)+len(tail) > maxTitle {
		base = strings.TrimSpace(string(r[:maxTitle-len(tail)]))
	}
	return base + tail, nil
}

// Tip follows a session that compression has ended to the one that carries it on.
func (d *DB) Tip(ctx context.Context, id string) (string, error) {
	tip, err := d.text(ctx, func(q querier) (string, error) { return tip(ctx, q, id) })
	if err != nil {
		return "", fmt.Errorf("newest part of session %s: %w", id, err)
	}
	return tip, nil
}

func tip(ctx context.Context, q querier, id string) (string, error) {
	for range maxHops {
		var next string
		err := q.QueryRowContext(ctx, `SELECT c.id FROM sessions p JOIN sessions c ON c.parent_session_id=p.id
			WHERE p.id=? AND p.end_reason='compression' AND c.started_at>=p.ended_at AND c.id<>p.id
			ORDER BY c.started_at DESC, c.id DESC LIMIT 1`, id).Scan(&next)
		if errors.Is(err, sql.ErrNoRows) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
		id = next
	}
	return id, nil
}

// Root is the first session of a chain of parents.
func (d *DB) Root(ctx context.Context, id string) (string, error) {
	root, err := d.text(ctx, func(q querier) (string, error) {
		at := id
		for range maxHops {
			var parent sql.NullString
			err := q.QueryRowContext(ctx, "SELECT parent_session_id FROM sessions WHERE id=?", at).Scan(&parent)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return "", err
			}
			if parent.String == "" || parent.String == at {
				break
			}
			at = parent.String
		}
		return at, nil
	})
	if err != nil {
		return "", fmt.Errorf("root of session %s: %w", id, err)
	}
	return root, nil
}

// Resume finds the session that going on with ref means: Resolve, then Tip,
// then, when that one holds no message, the first one below it that does.
func (d *DB) Resume(ctx context.Context, ref string) (string, error) {
	id, err := d.text(ctx, func(q querier) (string, error) {
		id, err := resolve(ctx, q, strings.TrimSpace(ref))
		if err != nil {
			return "", err
		}
		if id, err = tip(ctx, q, id); err != nil {
			return "", err
		}
		return firstFull(ctx, q, id)
	})
	if err != nil {
		return "", fmt.Errorf("session %q: %w", ref, err)
	}
	return id, nil
}

func firstFull(ctx context.Context, q querier, id string) (string, error) {
	at := id
	for range maxSteps {
		var full bool
		err := q.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM messages WHERE session_id=?)", at).Scan(&full)
		if err != nil || full {
			return at, err
		}
		err = q.QueryRowContext(ctx, "SELECT id FROM sessions WHERE parent_session_id=? ORDER BY started_at,id LIMIT 1", at).Scan(&at)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return id, nil
}

// text reads one text.
func (d *DB) text(ctx context.Context, f func(querier) (string, error)) (string, error) {
	var s string
	err := d.read(ctx, func(q querier, _ shape) (err error) {
		s, err = f(q)
		return err
	})
	return s, err
}

// ownThread leaves out children that are no conversation of their own: what a
// delegated task said. A child counts when its parent ended by compression or
// branching before it began.
const ownThread = ` AND (s.parent_session_id IS NULL OR NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id=s.parent_session_id
	AND (p.end_reason IS NULL OR p.end_reason NOT IN ('compression','branched') OR s.started_at<p.ended_at)))`

// Latest is the session with the newest message among those of the sources,
// or of all when none is named. The error wraps ErrNotFound.
func (d *DB) Latest(ctx context.Context, sources ...string) (string, error) {
	where, args := "", []any(nil)
	if len(sources) > 0 {
		where = " AND s.source IN (" + marks(len(sources)) + ")"
		for _, s := range sources {
			args = append(args, s)
		}
	}
	id, err := d.text(ctx, func(q querier) (string, error) {
		// Message ids grow with time, so that the first row found is the newest; the
		// first query spares a walk over all messages when there is nothing to find.
		var id string
		err := q.QueryRowContext(ctx, "SELECT s.id FROM sessions s WHERE s.message_count>0"+where+ownThread+" LIMIT 1", args...).Scan(&id)
		if err == nil {
			err = q.QueryRowContext(ctx, "SELECT s.id FROM messages m CROSS JOIN sessions s ON s.id=m.session_id WHERE 1"+where+ownThread+
				" ORDER BY m.id DESC LIMIT 1", args...).Scan(&id)
		}
		if errors.Is(err, sql.ErrNoRows) {
			err = ErrNotFound
		}
		return id, err
	})
	if err != nil {
		return "", fmt.Errorf("latest session: %w", err)
	}
	return id, nil
}

func texts(ctx context.Context, q querier, query string, args ...any) ([]string, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
