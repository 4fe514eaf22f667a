package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Strategy says which of a pool's keys is used next.
type Strategy string

// The strategies, by their names in the configuration.
const (
	FillFirst  Strategy = "fill_first"  // the lowest priority number, until it is exhausted
	RoundRobin Strategy = "round_robin" // each in turn
	LeastUsed  Strategy = "least_used"
	Random     Strategy = "random"
)

// Key is an entry of a pool, in the shape in which it is kept.
type Key struct {
	ID       string `json:"id"`
	Label    string `json:"label,omitempty"`
	Priority int    `json:"priority"`
	Secret   string `json:"access_token"`
	BaseURL  string `json:"base_url,omitempty"` // where the key belongs; "": the pool's own address
	Uses     int    `json:"request_count"`

	Status  string    `json:"last_status,omitempty"` // "ok" or "exhausted"
	At      time.Time `json:"last_status_at,omitzero"`
	Code    int       `json:"last_error_code,omitempty"`
	Reason  string    `json:"last_error_reason,omitempty"`
	Message string    `json:"last_error_message,omitempty"`
	Until   time.Time `json:"last_error_reset_at,omitzero"` // when it may be used again
	Guess   bool      `json:"reset_guessed,omitempty"`      // the service did not name Until
}

func (k *Key) exhausted(now time.Time) bool { return k.Status == "exhausted" && now.Before(k.Until) }

// PoolOptions describe a pool of keys for one service.
type PoolOptions struct {
	Strategy Strategy // "": FillFirst
	Keys     []Key
	Open     func(ctx context.Context, k Key) (Client, error)

	Save    func(keys []Key) error                        // called after each change worth keeping; may be nil
	Warn    func(err error)                               // told when Save fails; may be nil
	Refresh func(ctx context.Context, k Key) (Key, error) // after a refusal of the key itself; nil: no key can be renewed
	Now     func() time.Time                              // nil: the system clock
	Pick    func(n int) int                               // for Random; nil: by chance
}

// exhaustedFor is how long a key rests when nobody says.
const exhaustedFor = time.Hour

// Pool spreads requests over keys. A key that is refused for its bill is left
// at once, one that is refused itself is renewed or left, one over its rate is
// tried once more (after whatever Retrying waits) and then left. Changing keys
// is announced by a chunk with Retry and counts as no attempt. Errors that it
// lets through carry OtherKey while some key can still be used.
//
// With a single key nothing can be changed, so nothing is marked.
func Pool(o PoolOptions) Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pick == nil {
		o.Pick = rand.IntN
	}
	p := &pool{PoolOptions: o, clients: map[string]Client{}, limited: map[string]int{}}
	p.Keys = slices.Clone(o.Keys)
	for i := range p.Keys {
		if p.Keys[i].ID == "" {
			p.Keys[i].ID = fmt.Sprintf("key-%d", i+1)
		}
	}
	slices.SortStableFunc(p.Keys, func(a, b Key) int { return a.Priority - b.Priority })
	return p
}

type pool struct {
	PoolOptions

	mu      sync.Mutex
	clients map[string]Client
	limited map[string]int // by key: refusals for its rate since its last answer
}

// ErrNoKey is wrapped when a pool has no key that can be used now.
var ErrNoKey = errors.New("no key can be used")

// Stream implements Client.
func (p *pool) Stream(ctx context.Context, r *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		var last error
		renewed := map[string]bool{}
		for turn := 1; turn <= 2*len(p.Keys)+1; turn++ {
			k, c, err := p.take(ctx)
			if err != nil {
				if last == nil {
					last = err
				}
				break
			}
			if last != nil && !yield(Chunk{Retry: &Retry{Attempt: turn - 1, Reason: last}}, nil) {
				return
			}
			seen, ok, err := pass(c.Stream(ctx, r), yield)
			if !ok || err == nil {
				p.worked(k.ID)
				return
			}
			last = err
			e := asError(err)
			if e == nil || ctx.Err() != nil || seen.text && !seen.call {
				break
			}
			if e.Class == ClassAuth && p.Refresh != nil && !renewed[k.ID] {
				renewed[k.ID] = true
				if fresh, err := p.Refresh(ctx, k); err == nil {
					p.replace(fresh)
					continue
				}
			}
			left := p.refused(k.ID, e)
			e.OtherKey = p.usable()
			if !left || !e.OtherKey {
				break
			}
		}
		yield(Chunk{}, last)
	}
}

// take chooses a key and the client that uses it.
func (p *pool) take(ctx context.Context) (Key, Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, err := p.choose()
	if err != nil {
		return Key{}, nil, err
	}
	k := &p.Keys[i]
	k.Uses++
	chosen := *k
	c := p.clients[k.ID]
	if c == nil {
		if c, err = p.Open(ctx, chosen); err != nil {
			return Key{}, nil, fmt.Errorf("open with key %s: %w", chosen.ID, err)
		}
		p.clients[chosen.ID] = c
	}
	if p.Strategy == RoundRobin && len(p.Keys) > 1 {
		p.Keys = append(slices.Delete(p.Keys, i, i+1), chosen)
		p.save()
	}
	return chosen, c, nil
}

func (p *pool) choose() (int, error) {
	now := p.Now()
	var fit []int
	soonest := -1
	for i := range p.Keys {
		k := &p.Keys[i]
		switch {
		case !k.exhausted(now):
			fit = append(fit, i)
		case soonest < 0 || k.Until.Before(p.Keys[soonest].Until):
			soonest = i
		}
	}
	if len(fit) == 0 {
		if soonest < 0 {
			return 0, fmt.Errorf("%w: the pool is empty", ErrNoKey)
		}
		k := &p.Keys[soonest]
		if !k.Guess || !k.At.Before(now) { // a time that the service named is believed
			return 0, &Error{
				Class: ClassRateLimit, ToolIndex: -1, RetryAfter: k.Until.Sub(now), Err: ErrNoKey,
				Message: fmt.Sprintf("all %d keys are exhausted; the first may be used again at %s", len(p.Keys), k.Until.Format("15:04:05")),
			}
		}
		return soonest, nil
	}
	switch p.Strategy {
	case Random:
		return fit[p.Pick(len(fit))], nil
	case LeastUsed:
		return slices.MinFunc(fit, func(a, b int) int { return p.Keys[a].Uses - p.Keys[b].Uses }), nil
	}
	return fit[0], nil
}

func (p *pool) usable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.Now()
	return slices.ContainsFunc(p.Keys, func(k Key) bool { return !k.exhausted(now) })
}

func (p *pool) find(id string) *Key {
	for i := range p.Keys {
		if p.Keys[i].ID == id {
			return &p.Keys[i]
		}
	}
	return nil
}

func (p *pool) worked(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.limited, id)
	k := p.find(id)
	if k != nil && k.Status == "exhausted" {
		k.Status, k.Code, k.Reason, k.Message, k.Until, k.Guess = "ok", 0, "", "", time.Time{}, false
		k.At = p.Now()
		p.save()
	}
}

// refused notes a refusal; it reports whether the key is to be left.
func (p *pool) refused(id string, e *Error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !e.RotatesKey() || len(p.Keys) < 2 {
		return false
	}
	if e.Class == ClassRateLimit {
		if p.limited[id]++; p.limited[id] < 2 {
			return false
		}
	}
	delete(p.limited, id)
	k := p.find(id)
	if k == nil {
		return true
	}
	k.Status, k.At, k.Code, k.Reason, k.Message = "exhausted", p.Now(), e.Status, string(e.Class), shorten(e.Message, 300)
	k.Guess = e.RetryAfter <= 0
	k.Until = k.At.Add(e.RetryAfter)
	if k.Guess {
		k.Until = k.At.Add(exhaustedFor)
	}
	p.save()
	return true
}

func (p *pool) replace(fresh Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.find(fresh.ID); k != nil {
		*k = fresh
		delete(p.clients, fresh.ID)
		p.save()
	}
}

// save hands a copy to the hook; the caller holds the lock.
func (p *pool) save() {
	if p.Save == nil {
		return
	}
	if err := p.Save(slices.Clone(p.Keys)); err != nil && p.Warn != nil {
		p.Warn(fmt.Errorf("save the key pool: %w", err))
	}
}
