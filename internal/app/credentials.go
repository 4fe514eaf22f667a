package app

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/internal/setup"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

// logins is the home's auth.json, read once; its secrets are known to the
// redactor from then on.
func (a *App) logins() *setup.Auth {
	a.authOnce.Do(func() {
		auth, err := setup.ReadAuth(a.Home)
		if err != nil {
			a.Notice(err.Error())
		}
		for name, value := range auth.Secrets() {
			a.Secrets.Learn(name, value)
		}
		a.auth = auth
	})
	return a.auth
}

// authState is embedded in App.
type authState struct {
	authOnce sync.Once
	auth     *setup.Auth
}

// Getenv is the variables as model services see them: where a service's
// variable is not set, the first usable key of auth.json stands for it, and
// the rules that bind a variable to its service's host hold for that key too.
func (a *App) Getenv(name string) (string, bool) {
	if v, ok := a.Secrets.Getenv(name); ok && strings.TrimSpace(v) != "" {
		return v, ok
	}
	auth := a.logins()
	for _, pool := range auth.Providers() {
		k, ok := provider.Lookup(pool)
		if !ok || len(k.Env) == 0 || k.Env[0].Name != name {
			continue
		}
		if key, ok := auth.KeyOf(k); ok {
			return key, true
		}
	}
	return a.Secrets.Getenv(name)
}

// openPool opens an endpoint with all the keys there are for it. One key is
// no pool.
func (a *App) openPool(r provider.Resolved) (provider.Client, error) {
	auth := a.logins()
	keys := auth.PoolKeys(r)
	if len(keys) == 1 && !secret.Usable(r.Endpoint.Key) {
		r.Endpoint.Key = keys[0].Secret
	}
	if len(keys) < 2 {
		return provider.Open(context.Background(), r.Endpoint)
	}
	name := setup.PoolName(r)
	strategy := provider.Strategy(a.Config.String("credential_pool_strategies." + name))
	return provider.Pool(provider.PoolOptions{
		Strategy: strategy, Keys: keys,
		Open: func(ctx context.Context, k provider.Key) (provider.Client, error) {
			e := r.Endpoint
			e.Key = k.Secret
			return provider.Open(ctx, e)
		},
		Save: func(keys []provider.Key) error {
			now := time.Now()
			return setup.UpdateAuth(a.Home, now, func(auth *setup.Auth) error {
				auth.Note(name, keys, strategy == provider.RoundRobin)
				return nil
			})
		},
		Warn: func(err error) { a.Log.Warn("what was learned of the keys is not kept", "provider", name, "err", err) },
	}), nil
}
