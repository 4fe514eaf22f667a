package tool

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hermes-go/hermes/secret"
)

// Check decides whether tools can work on this machine. It is asked at most
// once in 30 seconds, however many tools share it.
type Check struct {
	Name  string
	Probe func(ctx context.Context, app *Services) error // the error is the reason doctor prints
}

// Variables is the service that knows the values of environment variables.
type Variables interface {
	Lookup(name string) (value string, source string, ok bool)
}

// EnvCheck is available when every named variable has a value.
func EnvCheck(vars ...secret.Var) *Check {
	c := &Check{Name: "environment"}
	c.Probe = func(_ context.Context, app *Services) error {
		env, err := Use[Variables](app)
		if err != nil {
			return err
		}
		for _, v := range vars {
			if value, _, _ := env.Lookup(v.Name); value == "" {
				return fmt.Errorf("%s is not set", v.Name)
			}
		}
		return nil
	}
	return c
}

const (
	checkLife  = 30 * time.Second
	checkLimit = 5 * time.Second
)

// probe is the cached answer of one check; its lock makes it single-flight.
type probe struct {
	mu    sync.Mutex
	asked time.Time
	err   error
}

// available answers a check from the cache or by probing.
func (r *Registry) available(ctx context.Context, c *Check, app *Services) error {
	if c == nil {
		return nil
	}
	r.mu.Lock()
	p := r.probes[c]
	if p == nil {
		p = &probe{}
		r.probes[c] = p
	}
	r.mu.Unlock()

	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.asked.IsZero() && r.now().Sub(p.asked) < checkLife {
		return p.err
	}
	err := runProbe(ctx, c, app)
	if ctx.Err() != nil {
		return err // the asker gave up: no verdict on the check
	}
	p.asked, p.err = r.now(), err
	return err
}

func runProbe(ctx context.Context, c *Check, app *Services) error {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- fmt.Errorf("check %s panicked: %v", c.Name, v)
			}
		}()
		done <- c.Probe(ctx, app)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("check %s gave no answer in %s", c.Name, checkLimit)
	}
}

// Invalidate forgets every check's answer, after something they depend on
// changed: a key was set, a toolset enabled, the configuration swapped.
func (r *Registry) Invalidate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.probes)
}
