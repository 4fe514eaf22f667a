package store

import (
	"context"
	"iter"
	"time"
)

// Query says what Search looks for.
type Query struct {
	Text           string   // words, "phrases", beginnings*, AND, OR, NOT; any text is allowed
	Sources        []string // only in sessions of these sources
	ExcludeSources []string
	Roles          []string // only messages of these roles
	Session        string   // only in this session
	Limit          int      // 0: 20
	Offset         int
	Newest         bool // strictly newest first, instead of best first
	Context        bool // also the neighbours of each message
}

// Hit is a message found.
type Hit struct {
	SessionID string
	MessageID int64
	Role      string
	Tool      string // whose result it is
	At        time.Time
	Snippet   string // words around the first matches, those in >>> and <<<
	Title     string
	Source    string
	Model     string
	Started   time.Time // when its session started
	Before    *Line     // the message before, if Query.Context
	After     *Line
}

// Line is a neighbour of a hit, cut to 200 characters.
type Line struct {
	Role string
	Text string
}

// Search yields messages that match q. Text that holds no word finds nothing;
// see HasWords. No text is a syntax error.
func (d *DB) Search(ctx context.Context, q Query) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		hits, err := d.search(ctx, q)
		if err != nil {
			yield(Hit{}, err)
			return
		}
		for _, h := range hits {
			if !yield(h, nil) {
				return
			}
		}
	}
}
