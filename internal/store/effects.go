package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/internal/effect"
)

// mostEffectArgs is how much of a call's arguments its record has, in bytes.
const mostEffectArgs = 400

const effectsTable = `CREATE TABLE IF NOT EXISTS call_effects (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  signature TEXT NOT NULL,
  args TEXT,
  state TEXT NOT NULL,
  began_at REAL NOT NULL,
  ended_at REAL
)`

const effectFields = "e.session_id,e.call_id,e.tool,e.signature,e.args,e.state,e.began_at,e.ended_at"

// lineCTE are a session and those it carries on: what compaction and branching
// made of one conversation.
const lineCTE = `WITH RECURSIVE line(id) AS (SELECT ?1 UNION SELECT p.id FROM line JOIN sessions s ON s.id=line.id
	JOIN sessions p ON p.id=s.parent_session_id WHERE p.end_reason IN ('compression','branched'))`

// beginEffects records calls, and finds the newest earlier ones like them.
func beginEffects(ctx context.Context, c *conn, id string, begin []effect.Effect, at float64) ([]effect.Effect, error) {
	earlier := make([]effect.Effect, len(begin))
	for i, e := range begin {
		st, err := c.prepare(ctx, lineCTE+" SELECT "+effectFields+" FROM call_effects e WHERE e.signature=?2 AND e.session_id IN (SELECT id FROM line) ORDER BY e.id DESC LIMIT 1")
		if err != nil {
			return nil, err
		}
		err = scanEffect(st.QueryRowContext(ctx, id, e.Signature), &earlier[i])
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	for _, e := range begin {
		err := c.exec(ctx, "INSERT INTO call_effects(session_id,call_id,tool,signature,args,state,began_at) VALUES(?,?,?,?,?,?,?)",
			id, e.Call, e.Tool, e.Signature, strings.ToValidUTF8(e.Args[:min(len(e.Args), mostEffectArgs)], ""), string(e.State), at)
		if err != nil {
			return nil, err
		}
	}
	return earlier, nil
}

// markEffects stores what became of calls: of the newest with an id.
func markEffects(ctx context.Context, c *conn, id string, marks []effect.Mark, at float64) error {
	for _, k := range marks {
		began, ended := any(nil), any(at)
		if k.State == effect.Running {
			began, ended = at, nil
		}
		err := c.exec(ctx, `UPDATE call_effects SET state=?1, began_at=COALESCE(?2,began_at), ended_at=?3
			WHERE id=(SELECT MAX(id) FROM call_effects WHERE session_id=?4 AND call_id=?5)`, string(k.State), began, ended, id, k.Call)
		if err != nil {
			return err
		}
	}
	return nil
}

// EffectStates are the states of the newest effects of calls of one session;
// calls without a record are left out.
func (d *DB) EffectStates(ctx context.Context, id string, calls []string) (map[string]effect.State, error) {
	out := map[string]effect.State{}
	err := d.read(ctx, func(q querier, _ shape) error {
		if ok, err := hasEffects(ctx, q); err != nil || !ok {
			return err
		}
		for _, call := range calls {
			var s string
			err := q.QueryRowContext(ctx, "SELECT state FROM call_effects WHERE session_id=? AND call_id=? ORDER BY id DESC LIMIT 1", id, call).Scan(&s)
			switch {
			case errors.Is(err, sql.ErrNoRows):
			case err != nil:
				return err
			default:
				out[call] = effect.State(s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read effects of session %s: %w", id, err)
	}
	return out, nil
}

// Effects lists what a conversation has done, the oldest first: the session,
// the parts it carries on, those that carry it on, and its children. A call of
// which a crash left nothing but its beginning is unknown.
func (d *DB) Effects(ctx context.Context, id string) ([]effect.Effect, error) {
	var out []effect.Effect
	err := d.read(ctx, func(q querier, _ shape) error {
		if _, err := oneSession(ctx, q, id); err != nil {
			return err
		}
		if ok, err := hasEffects(ctx, q); err != nil || !ok {
			return err
		}
		rows, err := q.QueryContext(ctx, lineCTE+`, tree(id) AS (SELECT id FROM line UNION SELECT c.id FROM tree JOIN sessions c ON c.parent_session_id=tree.id)
			SELECT `+effectFields+` FROM call_effects e WHERE e.session_id IN (SELECT id FROM tree) ORDER BY e.id`, id)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var e effect.Effect
			if err := scanEffect(rows, &e); err != nil {
				return err
			}
			out = append(out, e)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("effects of session %s: %w", id, err)
	}
	return out, nil
}

// hasEffects is false for a file of an older version that cannot be written.
func hasEffects(ctx context.Context, q querier) (ok bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM sqlite_master WHERE type='table' AND name='call_effects')").Scan(&ok)
	return ok, err
}

func scanEffect(r scanner, e *effect.Effect) error {
	var args, state sql.NullString
	var began, ended sql.NullFloat64
	if err := r.Scan(&e.Session, &e.Call, &e.Tool, &e.Signature, &args, &state, &began, &ended); err != nil {
		return err
	}
	e.Args, e.State = args.String, effect.State(state.String)
	e.Began, e.Ended = fromEpoch(began.Float64), fromEpoch(ended.Float64)
	return nil
}
