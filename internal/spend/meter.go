package spend

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// Price is dollars for a million tokens.
type Price struct {
	In, Out, CacheRead, CacheWrite float64
	Known                          bool
	Source                         string
}

func (p Price) of(u chat.Usage) *float64 {
	if !p.Known {
		return nil
	}
	usd := (float64(u.Input)*p.In + float64(u.Output)*p.Out + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
	return &usd
}

const (
	charsPerToken = 4
	imageTokens   = 1600
	leastAnswer   = 256    // tokens that must be left for an answer
	heldAnswer    = 4096   // tokens held for an answer whose length nobody limits
	mostAnswer    = 65_536 // an answer is not told to be shorter than this without need
)

// Meter counts what goes through a client and stops it at the limits. price is
// looked up for a request's model. Calls without an account in their context
// are home's.
func Meter(c provider.Client, service string, price func(model string) Price, home *Account) provider.Client {
	return &meter{c, service, price, home}
}

type meter struct {
	provider.Client
	service string
	price   func(string) Price
	home    *Account
}

// Stream implements provider.Client.
func (m *meter) Stream(ctx context.Context, r *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		a, ok := ctx.Value(key{}).(*Account)
		if !ok {
			a = m.home
		}
		price := m.price(r.Model)
		prompt := r.Tokens
		if prompt <= 0 {
			prompt = Estimate(r)
		}
		h, err := a.hold(ctx, r, price, prompt)
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		req := *r
		if h.most > 0 {
			req.Options.MaxTokens = h.most
		}
		call := Call{Purpose: r.Purpose, Provider: m.service, Model: r.Model, Session: r.Options.SessionID, PriceSource: price.Source}
		chars, booked := 0, false
		// What an answer took that broke off, or that nobody waited for, is a guess.
		defer func() {
			if !booked && (chars > 0 || ctx.Err() != nil) {
				call.Usage, call.Guessed = chat.Usage{Input: prompt, Output: chars/charsPerToken + 1, Calls: 1}, true
				booked = true
			}
			a.settle(context.WithoutCancel(ctx), h, price, call, booked)
		}()
		for c, err := range m.Client.Stream(ctx, &req) {
			chars += len(c.Text) + len(c.Reasoning)
			if f := c.Final; f != nil {
				booked = true
				if f.Usage != nil {
					call.Usage = *f.Usage
					call.Usage.Calls = max(call.Usage.Calls, 1)
				} else {
					call.Usage, call.Guessed = chat.Usage{Input: prompt, Output: answerTokens(f), Calls: 1}, true
				}
				for _, t := range f.ToolCalls {
					if !slices.Contains(call.Tools, t.Function.Name) {
						call.Tools = append(call.Tools, t.Function.Name)
					}
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func answerTokens(m *chat.Message) int {
	n := len(m.Content.String()) + len(m.Reasoning)
	for _, c := range m.ToolCalls {
		n += len(c.Function.Arguments) + len(c.Function.Name)
	}
	return n/charsPerToken + 1
}

// Estimate is a rough number of tokens of a request.
func Estimate(r *provider.Request) int {
	chars, images := len(r.System), 0
	for i := range r.Messages {
		m := &r.Messages[i]
		chars += len(m.Content.Text) + 10
		for _, p := range m.Content.Parts {
			if p.Type == "text" {
				chars += len(p.Text)
			} else {
				images++
			}
		}
		for _, c := range m.ToolCalls {
			chars += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	for _, d := range r.Tools {
		chars += len(d.Function.Description) + len(d.Function.Parameters)
	}
	return chars/charsPerToken + images*imageTokens + 1
}

// held is what a call in flight may take.
type held struct {
	Total
	scopes []scope
	most   int // the longest answer the limits allow; 0: as the request has it
}

// hold reserves what a call may take, or says which limit does not allow it.
func (a *Account) hold(ctx context.Context, r *provider.Request, p Price, prompt int) (held, error) {
	now := a.l.now()
	all := a.scopes(now)
	h := held{scopes: all}
	limited := slices.ContainsFunc(all, func(s scope) bool { return s.Limit != Limit{} })
	if !limited {
		return h, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.l.mu.Lock()
	defer a.l.mu.Unlock()
	if err := a.l.refresh(ctx, all, now); err != nil {
		return h, err
	}
	answer := r.Options.MaxTokens
	if answer <= 0 {
		answer = mostAnswer
	}
	room := answer
	for _, s := range all {
		if s.Limit == (Limit{}) {
			continue
		}
		c := a.counted(s)
		used := c.Total.add(c.held)
		stop := &Stop{Spent: used, goOn: s.goOn}
		if s.Tokens > 0 {
			left := s.Tokens - used.Tokens - prompt
			if left < leastAnswer {
				stop.Cap, stop.Limit, stop.Needed = "caps."+s.name+".tokens", Limit{Tokens: s.Tokens}, Total{Tokens: prompt + leastAnswer}
				return h, stop
			}
			room = min(room, left)
		}
		if s.USD <= 0 {
			continue
		}
		stop.Cap, stop.Limit = "caps."+s.name+".usd", Limit{USD: s.USD}
		if !p.Known {
			if a.l.limits.UnknownPrice == "allow" {
				continue
			}
			stop.price = r.Model
			return h, stop
		}
		left := s.USD - used.USD - float64(prompt)*p.In/1e6
		if left < leastAnswer*p.Out/1e6 {
			stop.Needed.USD = (float64(prompt)*p.In + leastAnswer*p.Out) / 1e6
			return h, stop
		}
		if p.Out > 0 {
			room = min(room, int(math.Min(left*1e6/p.Out, float64(answer))))
		}
	}
	if room < answer {
		h.most = room
	}
	expected := min(room, heldAnswer)
	h.Total = Total{Tokens: prompt + expected}
	if p.Known {
		h.USD = (float64(prompt)*p.In + float64(expected)*p.Out) / 1e6
	}
	for _, s := range all {
		c := a.counted(s)
		c.held = c.held.add(h.Total)
	}
	return h, nil
}

// counted wants a.mu and a.l.mu held.
func (a *Account) counted(s scope) *counted {
	if s.key == "" {
		return &a.turn
	}
	c := a.l.totals[s.key]
	if c == nil {
		c = &counted{}
		a.l.totals[s.key] = c
	}
	return c
}

// refresh reads the totals that have limits anew when they are old.
func (l *Ledger) refresh(ctx context.Context, all []scope, now time.Time) error {
	var keys []string
	for _, s := range all {
		if s.key == "" || s.Limit == (Limit{}) {
			continue
		}
		if c := l.totals[s.key]; c == nil || now.Sub(c.read) >= fresh || now.Before(c.read) {
			keys = append(keys, s.key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	totals, err := l.book.Totals(ctx, keys)
	if err != nil {
		return err
	}
	for i, k := range keys {
		c := l.totals[k]
		if c == nil {
			c = &counted{}
			l.totals[k] = c
		}
		c.Total, c.read = totals[i], now
	}
	return nil
}

// settle ends a hold and books what was spent.
func (a *Account) settle(ctx context.Context, h held, p Price, call Call, booked bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.l.mu.Lock()
	defer a.l.mu.Unlock()
	var spent Total
	if booked {
		call.At, call.Root, call.Job, call.USD = a.l.now(), a.root, a.job, p.of(call.Usage)
		if call.Session == "" {
			call.Session = a.session
		}
		spent = call.Total()
	}
	for _, s := range h.scopes {
		c := a.counted(s)
		c.Total = c.Total.add(spent)
		c.held = Total{c.held.Tokens - h.Tokens, c.held.USD - h.USD, 0}
		if s.key != "" {
			call.Keys = append(call.Keys, s.key)
		}
	}
	if booked {
		a.l.book.Add(ctx, call)
	}
}
