package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hermes-go/hermes/chat"
)

// Activity is what was done in the sessions that began since some time.
type Activity struct {
	Sessions []Worked       // the newest first
	Tools    map[string]int // calls by tool
	Hours    [24]int        // messages of the user by hour of the day
	Days     map[string]int // the same by day, as 2006-01-02
}

// Worked is one session in numbers.
type Worked struct {
	ID, Title, Source, Model string
	Started, Last            time.Time // its start and its newest message
	Messages, UserMessages   int
	ToolCalls                int
	Usage                    chat.Usage
	EstimatedUSD             *float64 // nil: unknown
}

// Activity counts the sessions begun at or after since, of one source or, when
// that is "", of all. Hours and days are those of zone.
func (d *DB) Activity(ctx context.Context, since time.Time, source string, zone *time.Location) (Activity, error) {
	a := Activity{Days: map[string]int{}}
	from := 0.0
	if !since.IsZero() {
		from = epoch(since)
	}
	err := d.read(ctx, func(q querier, sh shape) error {
		if err := a.sessions(ctx, q, sh, from, source); err != nil {
			return err
		}
		var err error
		// The name is kept in the call; arguments are not looked at.
		a.Tools, err = tally(ctx, q, `SELECT COALESCE(json_extract(c.value,'$.function.name'),'?'),count(*) FROM sessions s JOIN messages m ON m.session_id=s.id,
			json_each(CASE WHEN json_valid(m.tool_calls) THEN m.tool_calls ELSE '[]' END) c
			WHERE s.started_at>=? AND (?2='' OR s.source=?2)`+sh.visible("m")+" GROUP BY 1", from, source)
		if err != nil {
			return err
		}
		return a.times(ctx, q, sh, from, source, zone)
	})
	if err != nil {
		return a, fmt.Errorf("count activity: %w", err)
	}
	return a, nil
}

func (a *Activity) sessions(ctx context.Context, q querier, sh shape, from float64, source string) error {
	rows, err := q.QueryContext(ctx, `SELECT s.id,COALESCE(s.title,''),s.source,COALESCE(s.model,''),s.started_at,COALESCE(MAX(m.timestamp),s.started_at),
		count(m.id),COALESCE(SUM(m.role='user'),0),COALESCE(SUM(CASE WHEN json_valid(m.tool_calls) THEN json_array_length(m.tool_calls) ELSE 0 END),0),
		COALESCE(s.input_tokens,0),COALESCE(s.output_tokens,0),COALESCE(s.cache_read_tokens,0),COALESCE(s.cache_write_tokens,0),COALESCE(s.reasoning_tokens,0),
		COALESCE(s.api_call_count,0),s.estimated_cost_usd
		FROM sessions s LEFT JOIN messages m ON m.session_id=s.id`+sh.visible("m")+`
		WHERE s.started_at>=? AND (?2='' OR s.source=?2) GROUP BY s.id ORDER BY s.started_at DESC,s.id`, from, source)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var w Worked
		var started, last float64
		var usd sql.NullFloat64
		u := &w.Usage
		err := rows.Scan(&w.ID, &w.Title, &w.Source, &w.Model, &started, &last, &w.Messages, &w.UserMessages, &w.ToolCalls,
			&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.Calls, &usd)
		if err != nil {
			return err
		}
		if w.Started, w.Last = fromEpoch(started), fromEpoch(last); usd.Valid {
			w.EstimatedUSD = &usd.Float64
		}
		a.Sessions = append(a.Sessions, w)
	}
	return rows.Err()
}

func (a *Activity) times(ctx context.Context, q querier, sh shape, from float64, source string, zone *time.Location) error {
	rows, err := q.QueryContext(ctx, `SELECT m.timestamp FROM sessions s JOIN messages m ON m.session_id=s.id
		WHERE m.role='user' AND s.started_at>=? AND (?2='' OR s.source=?2)`+sh.visible("m"), from, source)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var at float64
		if err := rows.Scan(&at); err != nil {
			return err
		}
		t := fromEpoch(at).In(zone)
		a.Hours[t.Hour()]++
		a.Days[t.Format(time.DateOnly)]++
	}
	return rows.Err()
}
