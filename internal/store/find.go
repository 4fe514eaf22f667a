package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
)

// A search draws candidates, newest first, from one or more streams: the word
// index, the trigram index, or the messages themselves. Only as many are read
// as are asked for, so that a word in every message costs no more than a rare
// one; the best of them come first.

// pool is how many of the newest matches are compared with each other.
const pool = 200

// cand is a message that may be a hit.
type cand struct {
	Hit
	doc   *doc
	score float64
}

// stream yields candidates with falling ids.
type stream struct {
	from   string // FROM and WHERE up to the bound on the id
	id     string // the column that the bound is on
	args   []any
	check  expr // what the text must match; nil: the index has judged
	below  int64
	size   int
	most   int // rows looked at at most; 0: all
	buf    []*cand
	closed bool
}

type finder struct {
	q     querier
	sh    shape
	query Query
	where string
	args  []any
}

func newFinder(q querier, sh shape, query Query) *finder {
	f := &finder{q: q, sh: sh, query: query, where: sh.visible("m")}
	add := func(cond string, list []string) {
		if len(list) == 0 {
			return
		}
		f.where += " AND " + cond + " (" + marks(len(list)) + ")"
		for _, s := range list {
			f.args = append(f.args, s)
		}
	}
	add("s.source IN", query.Sources)
	add("s.source NOT IN", query.ExcludeSources)
	add("m.role IN", query.Roles)
	return f
}

// streams chooses where to look for e.
func (f *finder) streams(ctx context.Context, e expr, broken bool) ([]*stream, error) {
	switch {
	case f.query.Session != "":
		return []*stream{{from: "messages m JOIN sessions s ON s.id=m.session_id WHERE m.session_id=?", id: "m.id", args: []any{f.query.Session}, check: e}}, nil
	case broken:
		return []*stream{{from: "messages m CROSS JOIN sessions s ON s.id=m.session_id WHERE 1", id: "m.id", check: e}}, nil
	}
	var out []*stream
	var words []string
	var check expr // set if some group excludes by substring
	for _, g := range e {
		if q := g.onWords(); q != "" {
			words = append(words, q)
		}
		for _, t := range g.not {
			if t.substr {
				check = e
			}
		}
		st, err := f.trigrams(ctx, g)
		if err != nil {
			return nil, err
		}
		if st != nil {
			out = append(out, st)
		}
	}
	if len(words) > 0 {
		out = append(out, f.index("messages_fts", strings.Join(words, " OR "), check))
	}
	return out, nil
}

func (f *finder) index(table, match string, check expr) *stream {
	return &stream{
		from: table + " f CROSS JOIN messages m ON m.id=f.rowid CROSS JOIN sessions s ON s.id=m.session_id WHERE " + table + " MATCH ?",
		id:   "f.rowid", args: []any{match}, check: check,
	}
}

// fill reads on until st has a candidate or ends.
func (f *finder) fill(ctx context.Context, st *stream) error {
	for len(st.buf) == 0 && !st.closed {
		if err := f.more(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// more reads the next rows of st.
func (f *finder) more(ctx context.Context, st *stream) error {
	var args []any
	args = append(append(args, st.args...), st.below)
	args = append(append(args, f.args...), st.size)
	rows, err := f.q.QueryContext(ctx, `SELECT m.id,m.session_id,m.role,m.timestamp,m.content,m.tool_name,m.tool_calls,s.title,s.source,s.model,s.started_at
		FROM `+st.from+" AND "+st.id+"<?"+f.where+" ORDER BY "+st.id+" DESC LIMIT ?", args...)
	if err != nil {
		return err
	}
	n, err := st.read(rows)
	if err != nil {
		return err
	}
	st.closed = n < st.size
	if st.most > 0 {
		if st.most -= n; st.most <= 0 {
			st.closed = true
		}
	}
	st.size = min(st.size*2, 2000)
	return nil
}

func (st *stream) read(rows *sql.Rows) (int, error) {
	defer func() { _ = rows.Close() }()
	n := 0
	for rows.Next() {
		n++
		c := &cand{}
		var content, name, calls, title, model sql.NullString
		var at, started float64
		if err := rows.Scan(&c.MessageID, &c.SessionID, &c.Role, &at, &content, &name, &calls, &title, &c.Source, &model, &started); err != nil {
			return n, err
		}
		st.below = c.MessageID
		c.doc = newDoc(content.String, name.String, calls.String)
		if st.check != nil && !c.doc.matches(st.check) {
			continue
		}
		c.At, c.Started, c.Title, c.Model, c.Tool = fromEpoch(at), fromEpoch(started), title.String, model.String, name.String
		st.buf = append(st.buf, c)
	}
	return n, rows.Err()
}

// newest merges the streams and returns the want newest candidates.
func (f *finder) newest(ctx context.Context, list []*stream, want int) ([]*cand, error) {
	for _, st := range list {
		st.below, st.size = math.MaxInt64, min(want, 500)
		if st.most > 0 {
			st.size = min(want, 50) // a supplement: often a few rows settle it
		}
	}
	var out []*cand
	for len(out) < want {
		var best *stream
		for _, st := range list {
			if err := f.fill(ctx, st); err != nil {
				return nil, err
			}
			if len(st.buf) > 0 && (best == nil || st.buf[0].MessageID > best.buf[0].MessageID) {
				best = st
			}
		}
		if best == nil {
			break
		}
		c := best.buf[0]
		best.buf = best.buf[1:]
		if len(out) == 0 || out[len(out)-1].MessageID != c.MessageID {
			out = append(out, c)
		}
	}
	return out, nil
}

func (d *DB) search(ctx context.Context, query Query) ([]Hit, error) {
	e := parse(query.Text)
	if len(e) == 0 {
		return nil, nil
	}
	if query.Limit == 0 {
		query.Limit = 20
	}
	var out []Hit
	err := d.read(ctx, func(q querier, sh shape) error {
		state, err := getMeta(ctx, q, metaIndex)
		if err != nil {
			return err
		}
		out, err = find(ctx, q, sh, query, e, state == "damaged")
		if err != nil && ctx.Err() == nil && isIndexFault(err) {
			// What was said is still there when its index is not.
			out, err = find(ctx, q, sh, query, e, true)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search messages: %w", err)
	}
	return out, nil
}

func find(ctx context.Context, q querier, sh shape, query Query, e expr, broken bool) ([]Hit, error) {
	f := newFinder(q, sh, query)
	want := query.Offset + query.Limit
	if !query.Newest {
		want = max(want, pool)
	}
	list, err := f.streams(ctx, e, broken)
	if err != nil {
		return nil, err
	}
	cands, err := f.newest(ctx, list, want)
	if err != nil {
		return nil, err
	}
	if !query.Newest {
		rank(cands, e)
	}
	cands = cands[min(query.Offset, len(cands)):]
	cands = cands[:min(query.Limit, len(cands))]
	hits := make([]Hit, 0, len(cands))
	for _, c := range cands {
		c.Snippet = c.doc.snippet(e)
		if query.Context {
			if err := f.neighbours(ctx, &c.Hit); err != nil {
				return nil, err
			}
		}
		hits = append(hits, c.Hit)
	}
	return hits, nil
}

const neighbourLen = 200

func (f *finder) neighbours(ctx context.Context, h *Hit) error {
	for _, side := range []struct {
		cond string
		to   **Line
	}{{"m.id<? ORDER BY m.id DESC", &h.Before}, {"m.id>? ORDER BY m.id", &h.After}} {
		var l Line
		var content sql.NullString
		err := f.q.QueryRowContext(ctx, "SELECT m.role,m.content FROM messages m WHERE m.session_id=?"+f.sh.visible("m")+" AND "+side.cond+" LIMIT 1",
			h.SessionID, h.MessageID).Scan(&l.Role, &content)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		l.Text = clip(toContent(content.String, false).String(), neighbourLen)
		*side.to = &l
	}
	return nil
}
