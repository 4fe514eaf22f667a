// Package spend counts what model calls take and cost, and stops the next one
// at the limits that a person has set: for a turn, a session, a day, a profile
// or a job. Every call goes through it, those of side tasks, of children and
// of retries too. It keeps no record of its own: what was spent is written to
// and read from a Book.
package spend

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/provider"
)

// Limit bounds what is spent; a zero field bounds nothing.
type Limit struct {
	Tokens int     `yaml:"tokens"`
	USD    float64 `yaml:"usd"`
}

// Limits are all that may be set, the `caps` of the configuration.
type Limits struct {
	Turn    Limit `yaml:"turn"`
	Session Limit `yaml:"session"`
	Day     Limit `yaml:"day"`
	Profile Limit `yaml:"profile"`
	Job     Limit `yaml:"job"`

	// UnknownPrice "allow" lets calls pass whose price is unknown although a
	// limit in money is set; else they are stopped.
	UnknownPrice string `yaml:"unknown_price"`
}

// Total is what was spent.
type Total struct {
	Tokens   int
	USD      float64
	Unpriced int // calls whose price is unknown: USD lacks them
}

func (t Total) add(o Total) Total {
	return Total{t.Tokens + o.Tokens, t.USD + o.USD, t.Unpriced + o.Unpriced}
}

// Call is one model call for the record.
type Call struct {
	At                 time.Time
	Session, Root, Job string
	Purpose            string // "" for a turn, else the slot of a side call
	Provider, Model    string
	Tools              []string // what the answer called
	Usage              chat.Usage
	Guessed            bool     // the service did not say what it took
	USD                *float64 // nil: unknown
	PriceSource        string
	Keys               []string // the totals that it counts for
}

// Total is what the call adds to a total.
func (c Call) Total() Total {
	t := Total{Tokens: c.Usage.Prompt() + c.Usage.Output}
	if c.USD == nil {
		t.Unpriced = 1
	} else {
		t.USD = *c.USD
	}
	return t
}

// Book is where calls are recorded.
type Book interface {
	// Totals returns what was spent under the keys so far, with all that Add got.
	Totals(ctx context.Context, keys []string) ([]Total, error)
	Add(ctx context.Context, c Call)
}

// fresh is how long a total that was read counts, but for what this process
// adds to it: other processes spend too.
const fresh = time.Second

// Ledger holds the limits of one home.
type Ledger struct {
	limits Limits
	book   Book
	now    func() time.Time

	mu     sync.Mutex
	totals map[string]*counted
}

// counted is a total with what calls in flight may still take.
type counted struct {
	Total
	held Total
	read time.Time
}

// New returns a ledger. now is nil for the system's clock.
func New(l Limits, b Book, now func() time.Time) *Ledger {
	if now == nil {
		now = time.Now
	}
	return &Ledger{limits: l, book: b, now: now, totals: map[string]*counted{}}
}

// Account pays for the calls of one conversation, its side calls and its
// children. It travels with the context of a turn.
type Account struct {
	l         *Ledger
	root, job string

	mu      sync.Mutex
	session string
	turn    counted
}

// Account opens the account of a conversation: root is the first session of its
// line.
func (l *Ledger) Account(root, job string) *Account {
	return &Account{l: l, root: root, session: root, job: job}
}

// Begin starts a turn in a session.
func (a *Account) Begin(session string) {
	a.mu.Lock()
	a.turn, a.session = counted{}, session
	a.mu.Unlock()
}

// Move says that the conversation goes on under another id.
func (a *Account) Move(session string) {
	a.mu.Lock()
	a.session = session
	a.mu.Unlock()
}

type key struct{}

// With has calls made with the context paid by a.
func With(ctx context.Context, a *Account) context.Context { return context.WithValue(ctx, key{}, a) }

// scope is one limit as it applies to an account now.
type scope struct {
	name string // in the configuration
	key  string // in the book; "" for a turn
	Limit
	goOn string // what a person may do
}

const (
	keyProfile = "profile"
	keyDay     = "day:"
	keySession = "session:"
	keyJob     = "job:"
)

// DayKey is the key of a day's total.
func DayKey(t time.Time) string { return keyDay + t.Format(time.DateOnly) }

// scopes are all that the account's calls count for.
func (a *Account) scopes(now time.Time) []scope {
	l := &a.l.limits
	out := []scope{
		{"turn", "", l.Turn, "send another message to go on"},
		{"day", DayKey(now), l.Day, "go on tomorrow"},
		{"profile", keyProfile, l.Profile, "it is for all that this home ever spends"},
	}
	if a.root != "" {
		out = append(out, scope{"session", keySession + a.root, l.Session, "begin a new session"})
	}
	if a.job != "" {
		out = append(out, scope{"job", keyJob + a.job + ":" + now.Format(time.DateOnly), l.Job, "the job may go on tomorrow"})
	}
	return out
}

// Stop is the error of a call that a limit has stopped.
type Stop struct {
	Cap    string // the setting, e.g. caps.day.usd
	Spent  Total
	Limit  Limit
	Needed Total // what the call was estimated to take
	goOn   string
	price  string // the model whose price is unknown
}

func (s *Stop) Error() string {
	raise := fmt.Sprintf("raise it (hermes config set %s ...) or %s", s.Cap, s.goOn)
	switch {
	case s.price != "":
		return fmt.Sprintf("stopped before the call: %s is set and the price of %s is unknown; set prices.%s.input and .output (dollars a million tokens), use a limit in tokens, or allow it: hermes config set caps.unknown_price allow", s.Cap, s.price, s.price)
	case s.Limit.USD > 0:
		return fmt.Sprintf("stopped by %s, $%s: $%.4f is spent and the next call is estimated at $%.4f; to go on, %s", s.Cap, money(s.Limit.USD), s.Spent.USD, s.Needed.USD, raise)
	}
	return fmt.Sprintf("stopped by %s, %d tokens: %d are used and the next call needs about %d; to go on, %s", s.Cap, s.Limit.Tokens, s.Spent.Tokens, s.Needed.Tokens, raise)
}

// Unwrap makes it an ErrBudget.
func (s *Stop) Unwrap() error { return provider.ErrBudget }

// money is exact where cents are not enough.
func money(f float64) string {
	if cents := math.Round(f * 100); cents/100 == f {
		return fmt.Sprintf("%.2f", f)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Standing is where a scope stands.
type Standing struct {
	Name  string
	Limit Limit
	Total Total
}

// Standings are the account's scopes with what was spent in them, those without
// a limit too. The turn's is left out: it is over.
func (a *Account) Standings(ctx context.Context) ([]Standing, error) {
	var keys []string
	var out []Standing
	for _, s := range a.scopes(a.l.now()) {
		if s.key != "" {
			keys, out = append(keys, s.key), append(out, Standing{Name: s.name, Limit: s.Limit})
		}
	}
	totals, err := a.l.book.Totals(ctx, keys)
	for i := range totals {
		out[i].Total = totals[i]
	}
	return out, err
}

// Set lists the limits that are set.
func (l *Ledger) Set() []Standing {
	var out []Standing
	for _, s := range []Standing{
		{Name: "turn", Limit: l.limits.Turn},
		{Name: "session", Limit: l.limits.Session},
		{Name: "day", Limit: l.limits.Day},
		{Name: "profile", Limit: l.limits.Profile},
		{Name: "job", Limit: l.limits.Job},
	} {
		if s.Limit != (Limit{}) {
			out = append(out, s)
		}
	}
	return out
}
