package store

import (
	"context"
	"math"
	"strings"
)

const (
	// scanFirst is how many of the newest messages are read for a text too short
	// for trigrams before the index's dictionary is asked: a common character is
	// found at once, a rare one has a short entry.
	scanFirst = 400
	maxTerms  = 400
	// maxGlued is how many messages are looked through for words that are glued
	// to letters of another script, beside what the word index finds.
	maxGlued = 1000
)

// trigrams is the stream that finds g inside stretches without spaces, or nil.
// Every message with letters beyond ASCII stands in the trigram index whole, so
// that a group holding such a term needs no other index.
func (f *finder) trigrams(ctx context.Context, g group) (*stream, error) {
	var parts, short []string
	dense, plainShort := false, 0
	for _, t := range g.must {
		l, s := t.pieces()
		for _, p := range l {
			parts = append(parts, quote(p))
		}
		if dense = dense || t.substr; t.substr {
			short = append(short, s...)
		} else {
			plainShort += len(s)
		}
	}
	if !dense {
		if !f.mixed(ctx) || len(parts) == 0 && plainShort == 0 {
			return nil, nil
		}
		st := f.within(g, parts)
		st.most = maxGlued
		return st, nil
	}
	st := f.within(g, parts)
	if len(short) == 0 {
		return st, nil
	}
	probe := *st
	probe.below, probe.size = math.MaxInt64, scanFirst
	if err := f.more(ctx, &probe); err != nil {
		return nil, err
	}
	if probe.closed || len(probe.buf) >= scanFirst/20 {
		return st, nil // all are read already, or reading on finds plenty
	}
	for _, s := range short {
		terms, err := f.beginnings(ctx, s)
		if err != nil || len(terms) == 0 {
			return nil, err
		}
		if len(terms) == maxTerms {
			continue // the text itself is looked at anyway
		}
		for i, t := range terms {
			terms[i] = quote(t)
		}
		parts = append(parts, "("+strings.Join(terms, " OR ")+")")
	}
	return f.within(g, parts), nil
}

// within is the stream of messages that hold all parts, or of all messages in
// the trigram index if there are none.
func (f *finder) within(g group, parts []string) *stream {
	if len(parts) == 0 {
		return &stream{
			from: "messages_fts_trigram_docsize f CROSS JOIN messages m ON m.id=f.id CROSS JOIN sessions s ON s.id=m.session_id WHERE 1",
			id:   "f.id", check: expr{g},
		}
	}
	return f.index("messages_fts_trigram", strings.Join(parts, " AND "), expr{g})
}

// mixed reports whether any message is in the trigram index at all.
func (f *finder) mixed(ctx context.Context) bool {
	var any bool
	err := f.q.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM messages_fts_trigram_docsize)").Scan(&any)
	return err == nil && any
}

// beginnings lists the trigrams of the index that begin with s. The indexed
// text ends in spaces, so that every short text in it begins one.
func (f *finder) beginnings(ctx context.Context, s string) ([]string, error) {
	var have bool
	err := f.q.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM temp.sqlite_schema WHERE name='trigram_terms')").Scan(&have)
	if err != nil {
		return nil, err
	}
	if !have {
		rows, err := f.q.QueryContext(ctx, "CREATE VIRTUAL TABLE temp.trigram_terms USING fts5vocab(main, messages_fts_trigram, row)")
		if err != nil {
			return nil, err
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
	}
	return texts(ctx, f.q, "SELECT term FROM temp.trigram_terms WHERE term>=? AND term<? LIMIT ?", s, s+"\U0010FFFF", maxTerms)
}
