package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Filter says which sessions List returns. Its zero value is what a person
// wants to see: newest first, tool sessions and parts of others left out.
type Filter struct {
	Sources  []string // only these
	Exclude  []string // none of these; nil leaves out "tool" unless Sources names it
	Limit    int      // 0: 20, below 0: no limit
	Offset   int
	Children bool // also what delegated tasks and earlier parts of compressed sessions hold
	ByStart  bool // newest start first, instead of newest message first
}

// Summary is a line of a list. A session that compression has cut into parts is
// one line: the id, title and numbers are those of its newest part.
type Summary struct {
	ID, Title, Source, Model, Parent string
	Started, LastActive              time.Time
	Messages                         int
	Preview                          string // the beginning of the first thing the user said
	Ended                            time.Time
	EndReason                        string
}

// MarshalJSON writes the fields as `sessions list --json` shows them.
func (s Summary) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ID       string  `json:"id"`
		Title    *string `json:"title"`
		Source   string  `json:"source"`
		Model    *string `json:"model"`
		Started  float64 `json:"started_at"`
		Active   float64 `json:"last_active"`
		Messages int     `json:"message_count"`
		Preview  string  `json:"preview"`
		Parent   *string `json:"parent_session_id"`
	}{s.ID, orNull(s.Title), s.Source, orNull(s.Model), epoch(s.Started), epoch(s.LastActive), s.Messages, s.Preview, orNull(s.Parent)})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

const summaryFields = `s.id,s.title,s.source,s.model,s.parent_session_id,s.started_at,s.ended_at,s.end_reason,
	(SELECT count(*) FROM messages m WHERE m.session_id=s.id%[1]s),
	COALESCE((SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id=s.id%[1]s),s.started_at)`

// List returns sessions, the one with the newest message first.
func (d *DB) List(ctx context.Context, f Filter) ([]Summary, error) {
	var out []Summary
	err := d.read(ctx, func(q querier, sh shape) (err error) {
		out, err = list(ctx, q, sh, f, few)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return out, nil
}

// visible leaves roots and branches: what compression continued appears as its
// root's tip, what a delegated task said not at all.
const visible = ` AND (s.parent_session_id IS NULL OR NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id=s.parent_session_id)
	OR EXISTS (SELECT 1 FROM sessions p WHERE p.id=s.parent_session_id AND p.end_reason='branched' AND s.started_at>=p.ended_at))`

// activity is the time of the newest message of a session and of all that
// compression made of it.
const activity = `MAX(s.started_at,(WITH RECURSIVE line(id,n) AS (SELECT s.id,0 UNION ALL
	SELECT c.id,n+1 FROM line JOIN sessions p ON p.id=line.id AND p.end_reason='compression'
	JOIN sessions c ON c.parent_session_id=p.id AND c.started_at>=p.ended_at WHERE n<100)
	SELECT MAX(COALESCE((SELECT MAX(timestamp) FROM messages m WHERE m.session_id=line.id),0)) FROM line))`

// few is the number of sessions up to which each is asked for its activity.
const few = 1000

func list(ctx context.Context, q querier, sh shape, f Filter, few int) ([]Summary, error) {
	where, args := f.where()
	if !f.Children {
		where += visible
	}
	if f.Limit == 0 {
		f.Limit = 20
	}
	var many bool
	err := q.QueryRowContext(ctx, "SELECT count(*)>? FROM (SELECT 1 FROM sessions s WHERE 1"+where+" LIMIT ?)", append(append([]any{few}, args...), few+1)...).Scan(&many)
	if err != nil {
		return nil, err
	}
	var ids []string
	if many && !f.ByStart && f.Limit > 0 {
		ids, err = recent(ctx, q, f, where, args)
	} else {
		order := activity
		switch {
		case f.ByStart:
			order = "s.started_at"
		case f.Children: // each part by itself
			order = "MAX(s.started_at,COALESCE((SELECT MAX(timestamp) FROM messages m WHERE m.session_id=s.id),0))"
		}
		ids, err = texts(ctx, q, "SELECT s.id FROM sessions s WHERE 1"+where+" ORDER BY "+order+" DESC,s.started_at DESC,s.id DESC LIMIT ? OFFSET ?",
			append(args, f.Limit, f.Offset)...)
	}
	if err != nil {
		return nil, err
	}
	out := make([]Summary, 0, len(ids))
	for _, id := range ids {
		shown := id
		if !f.Children {
			if shown, err = tip(ctx, q, id); err != nil {
				return nil, err
			}
		}
		s, err := summary(ctx, q, sh, shown)
		if err != nil {
			return nil, err
		}
		if s.Preview == "" && shown != id {
			if s.Preview, err = preview(ctx, q, sh, id); err != nil {
				return nil, err
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// recent finds the sessions with the newest messages by reading messages from
// the end, which among many sessions is quicker than asking each. Sessions that
// hold no message yet are as old as their start.
func recent(ctx context.Context, q querier, f Filter, where string, args []any) ([]string, error) {
	want := f.Limit + f.Offset
	type entry struct {
		id string
		at float64
	}
	var found []entry
	empty, err := q.QueryContext(ctx, "SELECT s.id,s.started_at FROM sessions s WHERE COALESCE(s.message_count,0)=0"+where+" ORDER BY s.started_at DESC LIMIT ?", append(args, want)...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = empty.Close() }()
	seen := map[string]bool{} // sessions and roots that were looked at
	for empty.Next() {
		var e entry
		if err := empty.Scan(&e.id, &e.at); err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	if err := empty.Err(); err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, "SELECT session_id,timestamp FROM messages ORDER BY id DESC")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for n := 0; n < want && rows.Next(); {
		var id string
		var at float64
		if err := rows.Scan(&id, &at); err != nil {
			return nil, err
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		if !f.Children {
			if id, err = head(ctx, q, id); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(found, func(e entry) bool { return e.id == id && e.at >= at }) {
			continue
		}
		var ok bool
		if err := q.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM sessions s WHERE s.id=?"+where+")", append([]any{id}, args...)...).Scan(&ok); err != nil {
			return nil, err
		}
		if ok {
			found = slices.DeleteFunc(found, func(e entry) bool { return e.id == id })
			found = append(found, entry{id, at})
			n++
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(x, y entry) int { return cmp.Compare(y.at, x.at) })
	found = found[min(f.Offset, len(found)):]
	var ids []string
	for _, e := range found[:min(f.Limit, len(found))] {
		ids = append(ids, e.id)
	}
	return ids, nil
}

// head is the first part of a session that compression has cut.
func head(ctx context.Context, q querier, id string) (string, error) {
	for range maxHops {
		var parent string
		err := q.QueryRowContext(ctx, `SELECT p.id FROM sessions s JOIN sessions p ON p.id=s.parent_session_id
			WHERE s.id=? AND p.end_reason='compression' AND s.started_at>=p.ended_at`, id).Scan(&parent)
		if errors.Is(err, sql.ErrNoRows) {
			return id, nil
		}
		if err != nil {
			return "", err
		}
		id = parent
	}
	return id, nil
}

func (f Filter) where() (string, []any) {
	where, args := "", []any(nil)
	add := func(op string, list []string) {
		where += " AND s.source " + op + " (" + marks(len(list)) + ")"
		for _, s := range list {
			args = append(args, s)
		}
	}
	exclude := f.Exclude
	if len(f.Sources) > 0 {
		add("IN", f.Sources)
	} else if exclude == nil {
		exclude = []string{"tool"}
	}
	if len(exclude) > 0 {
		add("NOT IN", exclude)
	}
	return where, args
}

func summary(ctx context.Context, q querier, sh shape, id string) (Summary, error) {
	var s Summary
	var title, model, parent, reason sql.NullString
	var started, active float64
	var ended sql.NullFloat64
	err := q.QueryRowContext(ctx, "SELECT "+fmt.Sprintf(summaryFields, sh.visible("m"))+" FROM sessions s WHERE s.id=?", id).
		Scan(&s.ID, &title, &s.Source, &model, &parent, &started, &ended, &reason, &s.Messages, &active)
	if err != nil {
		return s, err
	}
	s.Title, s.Model, s.Parent, s.EndReason = title.String, model.String, parent.String, reason.String
	s.Started, s.LastActive, s.Ended = fromEpoch(started), fromEpoch(active), fromEpoch(ended.Float64)
	s.Preview, err = preview(ctx, q, sh, id)
	return s, err
}

const previewLen = 60

func preview(ctx context.Context, q querier, sh shape, id string) (string, error) {
	var content sql.NullString
	err := q.QueryRowContext(ctx, "SELECT content FROM messages m WHERE session_id=? AND role='user'"+sh.visible("m")+
		" ORDER BY timestamp,id LIMIT 1", id).Scan(&content)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	return clip(toContent(content.String, false).String(), previewLen), nil
}

// clip puts text on one line and cuts it to n characters.
func clip(s string, n int) string {
	if len(s) > n*16 {
		s = s[:n*16] // enough for n characters and some white space
	}
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "..."
}
