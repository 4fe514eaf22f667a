package setup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/flock"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

// Auth is a home's auth.json: several keys for one service, and what was
// learned about each. The format is the original's; what this program does not
// know in it is kept.
type Auth struct {
	root map[string]json.RawMessage
	pool map[string][]Login
}

// Login is an entry of a credential pool.
type Login struct {
	provider.Key
	Type   string // api_key or oauth
	Source string // manual, env:NAME, device_code, ...

	raw map[string]json.RawMessage
}

// Usable reports whether this program can use the entry: it renews no OAuth
// logins, so those are left to the program that made them.
func (l Login) Usable() bool { return l.Type != "oauth" && secret.Usable(l.Secret) }

// AuthPath is where a home keeps its logins.
func AuthPath(home string) string { return filepath.Join(home, "auth.json") }

// ReadAuth reads auth.json; a missing one is an empty one. The error of a
// damaged one comes with an empty, usable Auth.
func ReadAuth(home string) (*Auth, error) {
	b, err := secret.ReadFile(AuthPath(home))
	if errors.Is(err, fs.ErrNotExist) {
		return parseAuth(nil)
	}
	if err != nil {
		a, _ := parseAuth(nil)
		return a, fmt.Errorf("read logins: %w", err)
	}
	a, err := parseAuth(b)
	if err != nil {
		return a, fmt.Errorf("read logins %s: %w; mend it, or move it away and add the keys again with: hermes auth add", AuthPath(home), err)
	}
	return a, nil
}

func parseAuth(b []byte) (*Auth, error) {
	a := &Auth{root: map[string]json.RawMessage{}, pool: map[string][]Login{}}
	if len(bytes.TrimSpace(b)) == 0 {
		return a, nil
	}
	empty := func(err error) (*Auth, error) {
		return &Auth{root: map[string]json.RawMessage{}, pool: map[string][]Login{}}, err
	}
	if err := json.Unmarshal(b, &a.root); err != nil {
		return empty(err)
	}
	if a.root == nil {
		return empty(errors.New("it holds null instead of an object"))
	}
	var pools map[string][]map[string]json.RawMessage
	if raw := a.root["credential_pool"]; raw != nil {
		if err := json.Unmarshal(raw, &pools); err != nil {
			return empty(fmt.Errorf("credential_pool: %w", err))
		}
	}
	for name, entries := range pools {
		for _, e := range entries {
			a.pool[name] = append(a.pool[name], readLogin(e))
		}
		slices.SortStableFunc(a.pool[name], func(x, y Login) int { return x.Priority - y.Priority })
	}
	return a, nil
}

// Providers names the services that have entries.
func (a *Auth) Providers() []string { return slices.Sorted(maps.Keys(a.pool)) }

// Logins lists a service's entries in the order of use.
func (a *Auth) Logins(name string) []Login { return slices.Clone(a.pool[name]) }

// Secrets lists everything in the file that must not be shown.
func (a *Auth) Secrets() map[string]string {
	out := map[string]string{}
	for name, list := range a.pool {
		for i, l := range list {
			for _, field := range []string{"access_token", "refresh_token", "agent_key"} {
				if v := text(l.raw[field]); v != "" {
					out[fmt.Sprintf("auth.json %s.%d.%s", name, i, field)] = v
				}
			}
		}
	}
	return out
}

// Add appends a key and returns its entry; the same key twice is an error.
func (a *Auth) Add(name, key, label, source string) (Login, error) {
	key = strings.TrimSpace(key)
	for _, l := range a.pool[name] {
		if l.Secret == key {
			return Login{}, fmt.Errorf("%s has this key already, as %s (%s)", name, l.ID, l.Label)
		}
	}
	id := make([]byte, 3)
	if _, err := rand.Read(id); err != nil {
		return Login{}, err
	}
	l := Login{Type: "api_key", Source: source, raw: map[string]json.RawMessage{}}
	l.ID, l.Secret, l.Priority = hex.EncodeToString(id), key, len(a.pool[name])
	l.Label = cmp.Or(label, fmt.Sprintf("key-%d", len(a.pool[name])+1))
	a.pool[name] = append(a.pool[name], l)
	return l, nil
}

// Find picks an entry by number (from 1), id or label.
func (a *Auth) Find(name, target string) (Login, error) {
	list := a.pool[name]
	for i, l := range list {
		if l.ID == target || l.Label == target || strconv.Itoa(i+1) == target {
			return l, nil
		}
	}
	if len(list) == 0 {
		return Login{}, fmt.Errorf("auth.json has no key for %s; see: hermes auth list", name)
	}
	return Login{}, fmt.Errorf("%s has no key %q; it has %d, see: hermes auth list %s", name, target, len(list), name)
}

// Remove takes an entry out.
func (a *Auth) Remove(name, id string) {
	a.pool[name] = slices.DeleteFunc(a.pool[name], func(l Login) bool { return l.ID == id })
	for i := range a.pool[name] {
		a.pool[name][i].Priority = i
	}
	if len(a.pool[name]) == 0 {
		delete(a.pool, name)
	}
}

// Logout takes all that stands for a service out: its keys, and what another
// program has logged in to. It returns how many keys there were, and whether
// there was such a login.
func (a *Auth) Logout(name string) (keys int, login bool, err error) {
	keys = len(a.pool[name])
	delete(a.pool, name)
	var states map[string]json.RawMessage
	if raw := a.root["providers"]; raw != nil {
		if err := json.Unmarshal(raw, &states); err != nil {
			return keys, false, fmt.Errorf("auth.json, providers: %w", err)
		}
	}
	if _, login = states[name]; login {
		delete(states, name)
		if a.root["providers"], err = json.Marshal(states); err != nil {
			return keys, login, err
		}
	}
	if text(a.root["active_provider"]) == name {
		a.root["active_provider"], login = json.RawMessage("null"), true
	}
	return keys, login, nil
}

// Reset forgets that entries were exhausted; it returns how many were.
func (a *Auth) Reset(name string) int {
	n := 0
	for i := range a.pool[name] {
		l := &a.pool[name][i]
		if l.Status == "exhausted" {
			n++
		}
		l.Status, l.Code, l.Reason, l.Message = "ok", 0, "", ""
		l.Until, l.Guess = time.Time{}, false
	}
	return n
}

// Note takes over what a pool learned about its keys. Entries of the file that
// the pool does not know stay; keys that stand in variables get an entry
// without the key itself.
func (a *Auth) Note(name string, keys []provider.Key, rotated bool) {
	for i, k := range keys {
		j := slices.IndexFunc(a.pool[name], func(l Login) bool { return l.ID == k.ID || l.Source == k.ID })
		if j < 0 {
			source, ok := strings.CutPrefix(k.ID, "env:")
			if !ok || k.Status == "" {
				continue // removed by somebody in the meantime, or nothing to remember
			}
			a.pool[name] = append(a.pool[name], Login{Key: provider.Key{ID: k.ID, Label: source}, Type: "api_key", Source: k.ID, raw: map[string]json.RawMessage{}})
			j = len(a.pool[name]) - 1
		}
		l := &a.pool[name][j]
		kept := l.Key
		l.Key = k
		l.ID, l.Secret, l.Label, l.BaseURL, l.Priority = kept.ID, kept.Secret, kept.Label, kept.BaseURL, kept.Priority
		if rotated {
			l.Priority = i
		}
	}
}

// authWait is how long the original waits for another program's change, too.
const authWait = 15 * time.Second

// UpdateAuth changes a home's auth.json. A damaged file is copied to
// auth.json.corrupt first and begun anew. The lock is the original's, so both
// programs may run on one home.
func UpdateAuth(home string, now time.Time, edit func(*Auth) error) error {
	if by := secret.Managed(home, func(string) (string, bool) { return "", false }); by != "" {
		return fmt.Errorf("change %s: %w by %s; change it there", AuthPath(home), secret.ErrManaged, by)
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("make home: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), authWait, fmt.Errorf("for %s; end that program, then try again", authWait))
	defer cancel()
	lock, err := flock.Acquire(ctx, filepath.Join(home, "auth.lock"))
	if err != nil {
		return fmt.Errorf("change %s: %w", AuthPath(home), err)
	}
	defer lock.Release()
	return secret.UpdateFile(AuthPath(home), func(old []byte) ([]byte, error) {
		a, err := parseAuth(old)
		if err != nil {
			if err := os.WriteFile(AuthPath(home)+".corrupt", old, 0o600); err != nil {
				return nil, fmt.Errorf("keep the damaged auth.json: %w", err)
			}
		}
		if err := edit(a); err != nil {
			return nil, err
		}
		return a.encode(now)
	})
}

func (a *Auth) encode(now time.Time) ([]byte, error) {
	pools := map[string][]map[string]json.RawMessage{}
	for name, list := range a.pool {
		for _, l := range list {
			pools[name] = append(pools[name], l.write())
		}
	}
	var err error
	if a.root["credential_pool"], err = json.Marshal(pools); err != nil {
		return nil, err
	}
	if a.root["version"] == nil {
		a.root["version"] = json.RawMessage("1")
	}
	if a.root["providers"] == nil {
		a.root["providers"] = json.RawMessage("{}")
	}
	a.root["updated_at"] = quote(now.UTC().Format("2006-01-02T15:04:05.000000+00:00"))
	b, err := json.MarshalIndent(a.root, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// readLogin reads an entry, leniently: a field of another type is as if it
// were not there.
func readLogin(e map[string]json.RawMessage) Login {
	l := Login{raw: e, Type: cmp.Or(text(e["auth_type"]), "api_key"), Source: text(e["source"])}
	l.ID, l.Label = text(e["id"]), text(e["label"])
	l.Secret = text(e["access_token"])
	l.BaseURL = cmp.Or(text(e["base_url"]), text(e["inference_base_url"]))
	l.Priority, l.Uses = int(number(e["priority"])), int(number(e["request_count"]))
	l.Status, l.Code = text(e["last_status"]), int(number(e["last_error_code"]))
	l.Reason, l.Message = text(e["last_error_reason"]), text(e["last_error_message"])
	l.At, l.Until = moment(e["last_status_at"]), moment(e["last_error_reset_at"])
	if l.Status == "exhausted" && l.Until.IsZero() && !l.At.IsZero() {
		l.Until, l.Guess = l.At.Add(time.Hour), true
	}
	return l
}

// write lays the fields over what the entry held.
func (l Login) write() map[string]json.RawMessage {
	e := maps.Clone(l.raw)
	if e == nil {
		e = map[string]json.RawMessage{}
	}
	set := func(name, value string) {
		if value != "" || e[name] != nil {
			e[name] = quote(value)
		}
	}
	e["id"], e["label"], e["auth_type"], e["source"] = quote(l.ID), quote(l.Label), quote(l.Type), quote(l.Source)
	e["access_token"] = quote(l.Secret)
	e["priority"] = json.RawMessage(strconv.Itoa(l.Priority))
	e["request_count"] = json.RawMessage(strconv.Itoa(l.Uses))
	set("base_url", text(e["base_url"])) // never changed here
	for name, value := range map[string]string{"last_status": l.Status, "last_error_reason": l.Reason, "last_error_message": l.Message} {
		e[name] = orNull(value != "", quote(value))
	}
	e["last_error_code"] = orNull(l.Code != 0, json.RawMessage(strconv.Itoa(l.Code)))
	e["last_status_at"] = stamp(l.At)
	until := l.Until
	if l.Guess {
		until = time.Time{} // both programs take an hour when nobody says
	}
	e["last_error_reset_at"] = stamp(until)
	return e
}

func orNull(ok bool, v json.RawMessage) json.RawMessage {
	if !ok {
		return json.RawMessage("null")
	}
	return v
}

func quote(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return b
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func number(raw json.RawMessage) float64 {
	var f float64
	if json.Unmarshal(raw, &f) != nil {
		return 0
	}
	return f
}

// moment reads seconds or milliseconds since 1970, or an ISO time.
func moment(raw json.RawMessage) time.Time {
	if f := number(raw); f > 0 {
		if f > 1e11 {
			f /= 1000
		}
		whole, part := math.Modf(f)
		return time.Unix(int64(whole), int64(part*1e9))
	}
	s := text(raw)
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return time.Unix(int64(f), 0)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}

func stamp(t time.Time) json.RawMessage {
	if t.IsZero() {
		return json.RawMessage("null")
	}
	return json.RawMessage(strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64))
}

// PoolKeys are the keys that requests to an endpoint may use: those of
// auth.json that belong to its address, then the one of a variable. ids of
// variables are env:NAME.
func (a *Auth) PoolKeys(r provider.Resolved) []provider.Key {
	var keys []provider.Key
	name := PoolName(r)
	env := provider.Key{Secret: r.Endpoint.Key, Priority: math.MaxInt32}
	if r.Endpoint.Key != "" {
		env.ID = "config"
		name := strings.TrimSuffix(r.Source[strings.LastIndexByte(r.Source, '(')+1:], ")")
		if secret.ValidName(name) && name == strings.ToUpper(name) {
			env.ID, env.Label = "env:"+name, name
		}
	}
	for _, l := range a.pool[name] {
		if l.Source == env.ID && env.ID != "" {
			key := env.Secret
			env = l.Key // what was learned about it
			env.ID, env.Secret = "env:"+strings.TrimPrefix(l.Source, "env:"), key
			continue
		}
		if v, ok := strings.CutPrefix(l.Source, "env:"); ok && v != "" {
			continue // of a variable that is not set now: the variable is the only source
		}
		if !l.Usable() || l.BaseURL != "" && !sameHost(l.BaseURL, r.Endpoint.BaseURL) {
			continue
		}
		keys = append(keys, l.Key)
	}
	if env.ID != "" && !slices.ContainsFunc(keys, func(k provider.Key) bool { return k.Secret == env.Secret }) {
		keys = append(keys, env)
	}
	return keys
}

// PoolName is the name under which an endpoint's keys are kept: the service's,
// or custom:SLUG for an endpoint of the user's own.
func PoolName(r provider.Resolved) string {
	if key, ok := strings.CutPrefix(r.Source, "providers."); ok && r.Kind.Name == "custom" {
		key, _, _ = strings.Cut(key, " (")
		return "custom:" + strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key)), " ", "-")
	}
	return r.Kind.Name
}

func sameHost(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && provider.SameOrigin(x, y)
}

// KeyOf is the first key that can stand for a service's variable: one that
// belongs to the service's own address.
func (a *Auth) KeyOf(k provider.Kind) (string, bool) {
	for _, l := range a.pool[k.Name] {
		if l.Usable() && (l.BaseURL == "" || sameHost(l.BaseURL, k.BaseURL)) {
			return l.Secret, true
		}
	}
	return "", false
}
