package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// Stats are the numbers of a database.
type Stats struct {
	Sessions, Open, Titled int
	Messages, Undone       int
	Sources                map[string]int // sessions by source
	Models                 map[string]int // sessions by model
	Roles                  map[string]int // messages by role
	Usage                  chat.Usage
	EstimatedUSD           float64
	Oldest, Newest         time.Time // first start, last message
	Bytes, Free            int64     // the file's pages and how many of them are free
}

// Stats counts everything. since, if not zero, leaves out older sessions and
// messages.
func (d *DB) Stats(ctx context.Context, since time.Time) (Stats, error) {
	var s Stats
	from := 0.0
	if !since.IsZero() {
		from = epoch(since)
	}
	err := d.read(ctx, func(q querier, sh shape) error { return s.count(ctx, q, sh, from) })
	if err != nil {
		err = fmt.Errorf("count sessions: %w", err)
	}
	return s, err
}

func (s *Stats) count(ctx context.Context, q querier, sh shape, from float64) error {
	var oldest, newest sql.NullFloat64
	u := &s.Usage
	err := q.QueryRowContext(ctx, `SELECT count(*),count(*)-count(ended_at),count(title),MIN(started_at),COALESCE(SUM(input_tokens),0),COALESCE(SUM(output_tokens),0),
		COALESCE(SUM(cache_read_tokens),0),COALESCE(SUM(cache_write_tokens),0),COALESCE(SUM(reasoning_tokens),0),COALESCE(SUM(api_call_count),0),
		COALESCE(SUM(estimated_cost_usd),0) FROM sessions WHERE started_at>=?`, from).
		Scan(&s.Sessions, &s.Open, &s.Titled, &oldest, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.Calls, &s.EstimatedUSD)
	if err != nil {
		return err
	}
	err = q.QueryRowContext(ctx, "SELECT count(*),MAX(timestamp) FROM messages m WHERE timestamp>=?"+sh.visible("m"), from).Scan(&s.Messages, &newest)
	if err != nil {
		return err
	}
	if !sh.plain {
		if err := q.QueryRowContext(ctx, "SELECT count(*) FROM undone_messages WHERE timestamp>=?", from).Scan(&s.Undone); err != nil {
			return err
		}
	}
	s.Oldest, s.Newest = fromEpoch(oldest.Float64), fromEpoch(newest.Float64)
	for _, by := range []struct {
		to    *map[string]int
		query string
	}{
		{&s.Sources, "SELECT source,count(*) FROM sessions WHERE started_at>=? GROUP BY 1"},
		{&s.Models, "SELECT COALESCE(model,''),count(*) FROM sessions WHERE started_at>=? GROUP BY 1"},
		{&s.Roles, "SELECT role,count(*) FROM messages m WHERE timestamp>=?" + sh.visible("m") + " GROUP BY 1"},
	} {
		if *by.to, err = tally(ctx, q, by.query, from); err != nil {
			return err
		}
	}
	return q.QueryRowContext(ctx, "SELECT page_count*page_size,freelist_count*page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&s.Bytes, &s.Free)
}

func tally(ctx context.Context, q querier, query string, args ...any) (map[string]int, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	out := map[string]int{}
	for rows.Next() {
		var k string
		var n int
		if err := rows.Scan(&k, &n); err != nil {
			return nil, err
		}
		out[k] = n
	}
	return out, rows.Err()
}
