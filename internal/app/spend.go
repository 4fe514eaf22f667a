package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/internal/catalog"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/spend"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/provider"
)

// book keeps calls until the next message of their session is stored, and goes
// with it: a transaction of its own would cost as much as the message's.
type book struct {
	app *App

	mu      sync.Mutex
	waiting map[string][]store.Spent // by session
	flying  map[string][]store.Spent // being stored now; counted until that is done
}

var _ spend.Book = (*book)(nil)

// Add implements spend.Book.
func (b *book) Add(ctx context.Context, c spend.Call) {
	b.mu.Lock()
	b.waiting[c.Session] = append(b.waiting[c.Session], store.Spent(c))
	b.mu.Unlock()
	if c.Session == "" { // no message will follow
		b.flush(ctx, "")
	}
}

// Totals implements spend.Book. What is being stored may be counted twice for a
// moment, never left out.
func (b *book) Totals(ctx context.Context, keys []string) ([]spend.Total, error) {
	extra := map[string]spend.Total{}
	b.mu.Lock()
	for _, m := range []map[string][]store.Spent{b.waiting, b.flying} {
		for _, list := range m {
			for _, s := range list {
				one := spend.Call(s).Total()
				for _, k := range s.Keys {
					t := extra[k]
					extra[k] = spend.Total{Tokens: t.Tokens + one.Tokens, USD: t.USD + one.USD, Unpriced: t.Unpriced + one.Unpriced}
				}
			}
		}
	}
	b.mu.Unlock()
	db, err := b.app.DB()
	if err != nil {
		return nil, err
	}
	stored, err := db.Totals(ctx, keys)
	out := make([]spend.Total, len(keys))
	for i, k := range keys {
		out[i] = spend.Total(stored[i])
		x := extra[k]
		out[i].Tokens, out[i].USD, out[i].Unpriced = out[i].Tokens+x.Tokens, out[i].USD+x.USD, out[i].Unpriced+x.Unpriced
	}
	return out, err
}

// take is what waits for a session's next message; landed ends it.
func (b *book) take(id string) []store.Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.waiting[id]
	if list == nil {
		return nil
	}
	delete(b.waiting, id)
	b.flying[id] = append(b.flying[id], list...)
	return list
}

// landed says whether the calls taken were stored; else they wait again.
func (b *book) landed(id string, n int, stored bool) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.flying[id][:n]
	if b.flying[id] = b.flying[id][n:]; len(b.flying[id]) == 0 {
		delete(b.flying, id)
	}
	if !stored {
		b.waiting[id] = append(list, b.waiting[id]...)
	}
}

// flush stores what waits and no message followed.
func (b *book) flush(ctx context.Context, ids ...string) {
	for _, id := range ids {
		list := b.take(id)
		if list == nil {
			continue
		}
		db, err := b.app.DB()
		if err == nil {
			err = db.Spend(ctx, list...)
		}
		b.landed(id, len(list), err == nil)
		if err != nil {
			b.app.Log.Warn("usage not stored", "session", id, "err", err)
		}
	}
}

func (a *App) openLedger() {
	var limits spend.Limits
	if err := config.Decode(a.Config, "caps", &limits); err != nil {
		a.Notice(err.Error())
	}
	a.ledger = spend.New(limits, a.book, time.Now)
	a.houseAccount = a.ledger.Account("", "")
	a.prices = sync.OnceValue(func() *catalog.Catalog {
		c, err := catalog.Open(a.Home)
		if err != nil {
			a.Log.Warn("model catalogue", "err", err)
		}
		return c
	})
}

// metered has every call of a client counted.
func (a *App) metered(c provider.Client, r provider.Resolved) provider.Client {
	known := sync.Map{} // looking a model up walks the catalogue
	return spend.Meter(c, r.Kind.Name, func(model string) spend.Price {
		if p, ok := known.Load(model); ok {
			return p.(spend.Price)
		}
		p := a.price(r, model)
		known.Store(model, p)
		return p
	}, a.houseAccount)
}

// ownPrice is an entry of `prices`, in dollars for a million tokens.
type ownPrice struct {
	Input      *float64 `yaml:"input"`
	Output     *float64 `yaml:"output"`
	CacheRead  *float64 `yaml:"cache_read"`
	CacheWrite *float64 `yaml:"cache_write"`
}

// price is what a model costs at a service: by the configuration, nothing on
// this machine or network, else by the catalogue.
func (a *App) price(r provider.Resolved, model string) spend.Price {
	var own map[string]ownPrice
	if err := config.Decode(a.Config, "prices", &own); err != nil {
		a.Notice(err.Error())
	}
	if o, ok := own[model]; ok && o.Input != nil && o.Output != nil {
		p := spend.Price{Known: true, Source: "configuration", In: *o.Input, Out: *o.Output, CacheRead: *o.Input, CacheWrite: *o.Input}
		if o.CacheRead != nil {
			p.CacheRead = *o.CacheRead
		}
		if o.CacheWrite != nil {
			p.CacheWrite = *o.CacheWrite
		}
		return p
	}
	if r.Endpoint.Wire == provider.Offline || r.Endpoint.Local() {
		return spend.Price{Known: true, Source: "local"}
	}
	m, ok := a.prices().Find(r.Kind.Name, model)
	if !ok || !m.Priced {
		return spend.Price{}
	}
	p := spend.Price{Known: true, Source: "catalogue", In: m.In, Out: m.Out, CacheRead: m.Cached, CacheWrite: m.In * cacheWriteFactor}
	if m.Cached == 0 {
		p.CacheRead = m.In // what is not known to be cheaper counts in full
	}
	return p
}

// cacheWriteFactor is what a service that charges for writing to its cache asks
// above its price for input.
const cacheWriteFactor = 1.25

// CapRow is a limit of spending and how far it is.
type CapRow struct {
	Cap      string  `json:"cap"`
	Limit    float64 `json:"limit"`
	Spent    float64 `json:"spent"` // for a cap of one turn always 0
	Unpriced int     `json:"calls_without_price"`
}

// Text says it in a line.
func (c CapRow) Text() string {
	if strings.HasPrefix(c.Cap, "caps.turn.") || c.Spent < 0 {
		return fmt.Sprintf("%s: %s each", c.Cap, c.amount(c.Limit))
	}
	text := fmt.Sprintf("%s: %s of %s", c.Cap, c.amount(c.Spent), c.amount(c.Limit))
	if c.Unpriced > 0 && strings.HasSuffix(c.Cap, ".usd") {
		text += fmt.Sprintf(", without %d calls of unknown price", c.Unpriced)
	}
	return text
}

func (c CapRow) amount(f float64) string {
	if strings.HasSuffix(c.Cap, ".usd") {
		return fmt.Sprintf("$%.4f", f)
	}
	return fmt.Sprintf("%.0f tokens", f)
}

// Caps lists the limits that are set; those of a session or job have no number
// of their own outside of one.
func (a *App) Caps(ctx context.Context) ([]CapRow, error) {
	return capRows(ctx, a.ledger, a.houseAccount)
}

func capRows(ctx context.Context, l *spend.Ledger, account *spend.Account) ([]CapRow, error) {
	standing, err := account.Standings(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]spend.Total{}
	for _, s := range standing {
		known[s.Name] = s.Total
	}
	var out []CapRow
	for _, s := range l.Set() {
		t, ok := known[s.Name]
		if !ok {
			t = spend.Total{Tokens: -1, USD: -1}
		}
		if s.Limit.Tokens > 0 {
			out = append(out, CapRow{"caps." + s.Name + ".tokens", float64(s.Limit.Tokens), float64(t.Tokens), t.Unpriced})
		}
		if s.Limit.USD > 0 {
			out = append(out, CapRow{"caps." + s.Name + ".usd", s.Limit.USD, t.USD, t.Unpriced})
		}
	}
	return out, nil
}

// Caps implements slash.Conversation.
func (c *Conversation) Caps(ctx context.Context) ([]string, error) {
	account := c.account
	if account == nil {
		account = c.app.houseAccount
	}
	rows, err := capRows(ctx, c.app.ledger, account)
	text := make([]string, len(rows))
	for i, r := range rows {
		text[i] = r.Text()
	}
	return text, err
}
