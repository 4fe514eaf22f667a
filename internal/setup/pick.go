package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

func (w *Wizard) model(ctx context.Context) error {
	cfg, err := w.config()
	if err != nil {
		return err
	}
	choice, more, err := w.Pick(ctx, cfg, "Which model service?")
	if err != nil {
		return err
	}
	if err := w.apply(append(choice.Edits(cfg), more...)...); err != nil {
		return err
	}
	where := choice.Provider
	if choice.BaseURL != "" {
		where = choice.BaseURL
	}
	w.say(fmt.Sprintf("✓ %s at %s is the model now", choice.Model, where))
	return nil
}

// Pick asks for a service, what it needs, and a model of it. Keys are saved at
// once; more are edits that belong to the choice as the main model.
func (w *Wizard) Pick(ctx context.Context, cfg *config.Config, title string) (choice Choice, more []config.Edit, err error) {
	offers := Offers(w.Named, w.Lookup, w.Local(ctx))
	labels := make([]string, len(offers))
	start := 0
	for i, o := range offers {
		labels[i] = o.Label
		switch {
		case o.Local != nil:
		case o.Ready && !o.Named:
			labels[i] += " (key found)"
		case o.Named:
			labels[i] += " (" + o.Why + ")"
		}
		if o.Name == cfg.String("model.provider") && (o.Local == nil || o.Local.URL == cfg.String("model.base_url")) {
			start = i
		}
	}
	i, err := w.Ask.Choose(ctx, Question{Title: title}, labels, start)
	if err != nil {
		return choice, nil, err
	}
	o := offers[i]
	choice.Provider = o.Name
	switch {
	case o.Local != nil:
		choice.BaseURL = o.Local.URL
	case o.Name == "custom" && !o.Named:
		if choice.BaseURL, more, err = w.address(ctx, cfg); err != nil {
			return choice, nil, err
		}
	case !o.Named:
		if err := w.key(ctx, o.Kind); err != nil {
			return choice, nil, err
		}
	}
	choice.Model, err = w.chooseModel(ctx, cfg, o, choice)
	return choice, more, err
}

// customKey is the variable for the key of a server of one's own.
const customKey = "CUSTOM_API_KEY"

// address asks where a server of the person's own is.
func (w *Wizard) address(ctx context.Context, cfg *config.Config) (base string, more []config.Edit, err error) {
	base, err = w.Ask.Line(ctx, Question{Title: "Address of the server", Note: "for example http://127.0.0.1:11434/v1", Check: func(s string) error {
		u, err := url.Parse(CleanKey(s))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return errors.New("an address begins with http:// or https://")
		}
		return nil
	}}, cfg.String("model.base_url"))
	if err != nil {
		return "", nil, err
	}
	base = strings.TrimRight(CleanKey(base), "/")
	if (provider.Endpoint{BaseURL: base}).Local() {
		return base, nil, nil
	}
	key, err := w.Ask.Secret(ctx, Question{Title: "Key for it", Note: "not shown; empty when it needs none"})
	if err != nil {
		return "", nil, err
	}
	if key = CleanKey(key); key == "" {
		return base, nil, nil
	}
	if err := w.set(customKey, key); err != nil {
		return "", nil, err
	}
	return base, []config.Edit{{Key: "model.key_env", Value: customKey, Kind: config.KindText}}, nil
}

// key asks for the key of a service, unless one is there and stays.
func (w *Wizard) key(ctx context.Context, k provider.Kind) error {
	if len(k.Env) == 0 {
		return nil
	}
	v := k.Env[0]
	for _, other := range k.Env {
		if w.Secrets.Has(other.Name) {
			v = other
			break
		}
	}
	_, err := w.variable(ctx, v, func(key string) string { return w.tryKey(ctx, k, key) })
	return err
}

// variable asks for one variable: keep, replace or clear one that is set, else
// a new value. try says what is wrong with a value, "" for nothing.
func (w *Wizard) variable(ctx context.Context, v secret.Var, try func(string) string) (string, error) {
	if have := w.Secrets.Get(v.Name); have != "" {
		start, note := 0, ""
		if problem := JunkKey(v.Name, have); problem != "" {
			start, note = 1, "It looks wrong: "+problem
		}
		shown := have
		if v.Secret {
			shown = secret.Mask(have)
		}
		i, err := w.Ask.Choose(ctx, Question{Title: fmt.Sprintf("%s is set (%s)", v.Name, shown), Note: note}, []string{"Keep it", "Replace it", "Clear it"}, start)
		if err != nil {
			return "", err
		}
		switch i {
		case 0:
			w.report(v, have, try)
			return have, nil
		case 2:
			if err := w.Secrets.Unset(v.Name); err != nil {
				return "", err
			}
			w.say("✓ " + v.Name + " is cleared")
			return "", nil
		}
	}
	note := "not shown; paste works, empty skips it"
	if v.URL != "" {
		note = "get one at " + v.URL + "\n" + note
	}
	for {
		ask := w.Ask.Secret
		if !v.Secret {
			ask = func(ctx context.Context, q Question) (string, error) {
				q.Note = strings.TrimPrefix(q.Note, "not shown; ")
				return w.Ask.Line(ctx, q, "")
			}
		}
		value, err := ask(ctx, Question{Title: cmp.Or(v.Prompt, v.About, v.Name), Note: note})
		if err != nil {
			return "", err
		}
		if value = CleanKey(value); value == "" {
			return "", nil
		}
		problem := JunkKey(v.Name, value)
		if problem == "" && try != nil {
			problem = try(value)
		}
		if problem != "" {
			i, err := w.Ask.Choose(ctx, Question{Title: "That does not look right", Note: problem}, []string{"Type it again", "Use it all the same"}, 0)
			if err != nil {
				return "", err
			}
			if i == 0 {
				continue
			}
		}
		return value, w.set(v.Name, value)
	}
}

func (w *Wizard) report(v secret.Var, value string, try func(string) string) {
	if try == nil {
		return
	}
	if problem := try(value); problem != "" {
		w.say("⚠ " + v.Name + ": " + problem)
	}
}

// set writes a variable and reads it back.
func (w *Wizard) set(name, value string) error {
	note, err := w.Secrets.Set(name, value)
	if err != nil {
		return err
	}
	if note != "" {
		w.say(note)
	}
	w.say(fmt.Sprintf("✓ %s is in %s", name, w.Secrets.Path()))
	return nil
}

// tryTime is how long a live check may take.
const tryTime = 5 * time.Second

// tryKey asks the service whether it takes a key. No network is no reason
// against it.
func (w *Wizard) tryKey(ctx context.Context, k provider.Kind, key string) string {
	w.Secrets.Learn("key of "+k.Name, key)
	r, err := provider.Resolve(provider.Wanted{Provider: k.Name, Model: "any", APIKey: key, Lookup: w.Secrets.Getenv})
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	_, err = provider.ListModels(ctx, r.Endpoint)
	var refused *provider.Error
	switch {
	case err == nil:
		w.say("✓ " + r.Endpoint.Host() + " takes the key")
	case errors.As(err, &refused) && (refused.Status == 401 || refused.Status == 403):
		return w.Secrets.Redactor().Redact(fmt.Sprintf("%s refuses the key: %v", r.Endpoint.Host(), refused))
	case errors.As(err, &refused) && refused.Status != 0:
	default:
		w.say("· " + r.Endpoint.Host() + " could not be reached, so the key was not tried")
	}
	return ""
}

// mostShown bounds a list to choose from; a name can always be typed.
const mostShown = 400

func (w *Wizard) chooseModel(ctx context.Context, cfg *config.Config, o Offer, c Choice) (string, error) {
	names := o.Models
	if len(names) == 0 {
		r, err := provider.Resolve(provider.Wanted{Provider: c.Provider, Model: "any", BaseURL: c.BaseURL, Named: w.Named, Lookup: w.Lookup, APIKey: w.Secrets.Get(customKey)})
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, tryTime)
			names, _, err = ModelsOf(ctx, r, w.Catalog)
			cancel()
		}
		if err != nil && len(names) == 0 {
			w.say("· no list of models: " + err.Error())
		}
	}
	current := cfg.String("model.default")
	ask := func() (string, error) {
		name, err := w.Ask.Line(ctx, Question{Title: "Name of the model", Note: "as the service calls it", Check: func(s string) error {
			if strings.TrimSpace(s) == "" {
				return errors.New("a model needs a name")
			}
			return nil
		}}, current)
		return strings.TrimSpace(name), err
	}
	switch {
	case len(names) == 0:
		return ask()
	case len(names) == 1:
		return names[0], nil
	}
	names = names[:min(len(names), mostShown)]
	labels := make([]string, 0, len(names)+1)
	for _, n := range names {
		label := n
		if m, ok := w.Catalog.Find(o.Name, n); ok && o.Local == nil {
			label = fmt.Sprintf("%s  (%s tokens, %s)", n, Tokens(m.Window), Money(m))
		}
		labels = append(labels, label)
	}
	labels = append(labels, "Another name…")
	start := max(slices.Index(names, current), 0)
	i, err := w.Ask.Choose(ctx, Question{Title: "Which model?", Note: "/ searches"}, labels, start)
	if err != nil {
		return "", err
	}
	if i == len(names) {
		return ask()
	}
	return names[i], nil
}
