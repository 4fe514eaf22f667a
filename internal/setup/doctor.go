package setup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/secret"
)

// Status of a finding.
type Status string

// The statuses. A Fail is something the active configuration needs.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Finding is what a check came to.
type Finding struct {
	ID       string `json:"id"`
	Group    string `json:"group"`
	Status   Status `json:"status"`
	Blocking bool   `json:"blocking"` // the active configuration needs it
	Message  string `json:"message"`
	Fix      string `json:"fix"`

	Repair func() (string, error) `json:"-"` // does what Fix says; nil: a person must
}

// Check looks at one thing. Its own Limit is how long it may take; after that
// the finding says so.
type Check struct {
	ID       string
	Group    string
	Blocking bool
	Network  bool // asks other machines
	Limit    time.Duration
	Run      func(ctx context.Context) []Finding
}

// Report is the whole of doctor's findings.
type Report struct {
	OK     bool      `json:"ok"`
	Checks []Finding `json:"checks"`
}

const (
	fileLimit    = time.Second
	networkLimit = 1500 * time.Millisecond
)

// Examine runs all checks at once, each for at most its own time; the report
// keeps their order. It never takes longer than the longest limit.
func Examine(ctx context.Context, checks []Check) Report {
	results := make([][]Finding, len(checks))
	var wg sync.WaitGroup
	for i, c := range checks {
		wg.Go(func() { results[i] = c.run(ctx) })
	}
	wg.Wait()
	r := Report{OK: true, Checks: []Finding{}}
	for i, list := range results {
		for _, f := range list {
			if f.ID == "" {
				f.ID = checks[i].ID
			}
			f.Group = checks[i].Group
			if f.Status == Fail && !checks[i].Blocking {
				f.Status = Warn
			}
			f.Blocking = checks[i].Blocking && f.Status != Warn
			if f.Status == Fail {
				r.OK = false
			}
			r.Checks = append(r.Checks, f)
		}
	}
	return r
}

func (c Check) run(parent context.Context) []Finding {
	limit := c.Limit
	if limit == 0 {
		limit = fileLimit
		if c.Network {
			limit = networkLimit
		}
	}
	ctx, cancel := context.WithTimeout(parent, limit)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- []Finding{{Status: Warn, Message: fmt.Sprintf("the check broke off: %v", v), Fix: "report this as a bug"}}
			}
		}()
		done <- c.Run(ctx)
	}()
	late := time.NewTimer(limit + 100*time.Millisecond) // a check that minds its context answers first
	defer late.Stop()
	select {
	case f := <-done:
		return f
	case <-late.C:
	case <-parent.Done():
		if errors.Is(parent.Err(), context.Canceled) {
			return []Finding{{Status: Warn, Message: "not finished: interrupted"}}
		}
	}
	return []Finding{{Status: Fail, Message: fmt.Sprintf("%s gave no answer in %s", strings.ReplaceAll(c.ID, ".", " "), limit), Fix: "try again; if it stays so, look at what it depends on"}}
}

// Repair does everything that findings offer to do, in order, and tells of
// each what came of it.
func Repair(r Report) (done []string, err error) {
	var errs []error
	for _, f := range r.Checks {
		if f.Repair == nil || f.Status == OK {
			continue
		}
		text, err := f.Repair()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.ID, err))
			continue
		}
		done = append(done, text)
	}
	return done, errors.Join(errs...)
}

// Mask takes secrets out of everything that the report says: errors of others
// may quote what they were sent.
func (r Report) Mask(m *secret.Redactor) Report {
	for i := range r.Checks {
		r.Checks[i].Message, r.Checks[i].Fix = m.Redact(r.Checks[i].Message), m.Redact(r.Checks[i].Fix)
	}
	return r
}

// Worst is the report's findings that are no OK, failures first.
func (r Report) Worst() []Finding {
	var out []Finding
	for _, f := range r.Checks {
		if f.Status != OK {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return rank(b.Status) - rank(a.Status) })
	return out
}

func rank(s Status) int { return slices.Index([]Status{OK, Warn, Fail}, s) }

func ok(format string, args ...any) []Finding {
	return []Finding{{Status: OK, Message: fmt.Sprintf(format, args...)}}
}

func bad(s Status, fix, format string, args ...any) []Finding {
	return []Finding{{Status: s, Message: fmt.Sprintf(format, args...), Fix: fix}}
}
