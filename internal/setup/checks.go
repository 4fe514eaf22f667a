package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
)

// Examined is what doctor looks at. The functions stand for parts that only
// the whole program has.
type Examined struct {
	Home, Root, Profile string
	Config              *config.Config
	Secrets             *secret.Store
	Auth                *Auth
	AuthErr             error
	Resolve             func() (provider.Resolved, error)                                  // where conversations go
	Lookup              func(name string) (string, bool)                                   // variables, with the keys of auth.json
	Fallbacks           func() ([]FallbackState, error)                                    // the configured chain
	Tools               func(ctx context.Context) ([]ToolState, error)                     // as a terminal session has them
	Store               func(ctx context.Context) (string, error)                          // opens state.db, says what is in it
	Backend             func() (backend.Kind, backend.Options, error)                      // where commands run
	Models              func(context.Context, provider.Endpoint) ([]provider.Model, error) // nil: provider.ListModels
	Offline             bool                                                               // ask no other machine
}

// FallbackState is an entry of fallback_providers.
type FallbackState struct {
	Label string
	Err   error
}

// ToolState is a tool as sessions see it.
type ToolState struct {
	Name, Toolset, Reason string
	Enabled, Available    bool
	Env                   []string // variables that it needs
}

// Checks lists everything doctor looks at, the files first.
func (x Examined) Checks() []Check {
	if x.Models == nil {
		x.Models = provider.ListModels
	}
	resolved, err := x.Resolve()
	checks := x.fileChecks()
	checks = append(checks, Check{ID: "model.setup", Group: "model", Blocking: true, Run: func(context.Context) []Finding { return x.model(resolved, err) }})
	if err == nil && !x.Offline {
		checks = append(checks, Check{ID: "model.answer", Group: "model", Blocking: true, Network: true, Run: func(ctx context.Context) []Finding {
			return x.answers(ctx, resolved)
		}})
	}
	checks = append(checks, Check{ID: "model.fallback", Group: "model", Run: func(context.Context) []Finding { return x.fallbacks() }})
	if !x.Offline {
		for _, k := range provider.All() {
			if k.Name == resolved.Kind.Name || k.Wire == provider.Offline {
				continue
			}
			if r, err := provider.Resolve(provider.Wanted{Provider: k.Name, Lookup: x.Lookup}); err == nil && r.Endpoint.Key != "" && !k.Keyless {
				checks = append(checks, Check{ID: "provider." + k.Name, Group: "other services", Network: true, Run: func(ctx context.Context) []Finding { return x.answers(ctx, r) }})
			}
		}
	}
	return append(checks,
		Check{ID: "auth.pool", Group: "keys", Run: func(context.Context) []Finding { return x.pools() }},
		Check{ID: "terminal.backend", Group: "terminal", Blocking: true, Limit: networkLimit, Run: x.backend},
		Check{ID: "terminal.backends", Group: "terminal", Limit: networkLimit, Run: x.backends},
		Check{ID: "terminal.path", Group: "terminal", Limit: networkLimit, Run: x.searchPath},
		Check{ID: "sessions.store", Group: "sessions", Blocking: true, Limit: networkLimit, Run: x.store},
		Check{ID: "tools", Group: "tools", Limit: networkLimit, Run: x.tools},
		Check{ID: "programs", Group: "programs", Run: func(context.Context) []Finding { return x.programs() }},
	)
}

// Quick is the cheap part of doctor: files alone, no process, no network. It
// returns one line about what a person should mend, empty when all is well.
func (x Examined) Quick() string {
	var worst []Finding
	for _, c := range x.fileChecks() {
		if c.ID == "config.version" || c.ID == "logs" {
			continue // no reason to interrupt anybody
		}
		for _, f := range c.Run(context.Background()) {
			if f.Status == Fail || f.Status == Warn && f.Repair != nil && c.ID != "home" {
				worst = append(worst, f)
			}
		}
	}
	if len(worst) == 0 {
		return ""
	}
	more := ""
	if len(worst) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(worst)-1)
	}
	return worst[0].Message + more + "; see: hermes doctor"
}

func (x Examined) fileChecks() []Check {
	return []Check{
		{ID: "home", Group: "files", Blocking: true, Run: func(context.Context) []Finding { return x.home() }},
		{ID: "config", Group: "files", Blocking: true, Run: func(context.Context) []Finding { return x.config() }},
		{ID: "config.version", Group: "files", Run: func(context.Context) []Finding { return x.version() }},
		{ID: "env", Group: "files", Run: func(context.Context) []Finding { return x.env() }},
		{ID: "auth.file", Group: "files", Run: func(context.Context) []Finding { return x.authFile() }},
		{ID: "logs", Group: "files", Run: func(context.Context) []Finding { return x.logs() }},
	}
}

func (x Examined) home() []Finding {
	info, err := os.Stat(x.Home)
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{{
			Status: Warn, Message: x.Home + " is not there yet; it is made at the first conversation", Fix: "hermes setup, or hermes doctor --fix",
			Repair: func() (string, error) { return "made " + x.Home, x.makeHome() },
		}}
	}
	if err != nil {
		return bad(Fail, "make it readable for this user, or set HERMES_HOME", "%s cannot be read: %v", x.Home, err)
	}
	if !info.IsDir() {
		return bad(Fail, "move it away, or set HERMES_HOME", "%s is no directory", x.Home)
	}
	probe, err := os.CreateTemp(x.Home, ".doctor-*")
	if err != nil {
		return bad(Fail, "make the directory writable for this user (chown, chmod u+rwx), or set HERMES_HOME to one that is", "%s is not writable: %v", x.Home, errors.Unwrap(err))
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	var missing []string
	for _, d := range []string{"cron", "sessions", "logs", "memories"} {
		if _, err := os.Stat(filepath.Join(x.Home, d)); err != nil {
			missing = append(missing, d)
		}
	}
	if len(missing) > 0 {
		return []Finding{{
			Status: Warn, Message: fmt.Sprintf("%s lacks %s; they are made when needed", x.Home, strings.Join(missing, ", ")), Fix: "hermes doctor --fix makes them",
			Repair: func() (string, error) { return "made " + strings.Join(missing, ", "), x.makeHome() },
		}}
	}
	return ok("%s is there and writable", x.Home)
}

func (x Examined) makeHome() error { return config.CreateHome(x.Home, x.Secrets.Getenv, nil) }

// mostUnknown keys are told of one by one.
const mostUnknown = 3

func (x Examined) config() []Finding {
	path := x.Config.Path()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ok("%s is not there: every setting has its default", path)
	}
	var out []Finding
	problems := append(x.Config.Warnings(), x.Config.Validate()...)
	if unknown := x.Config.Unknown(); len(unknown) > mostUnknown { // a home that another program uses as well
		problems = slices.DeleteFunc(problems, func(p config.Problem) bool { return p.Unknown })
		out = bad(Warn, "hermes config check lists them; they do no harm", "config.yaml has %d keys that are not known here and have no effect: %s, …",
			len(unknown), strings.Join(unknown[:mostUnknown], ", "))
	}
	for i, p := range problems {
		s := Warn
		if p.Severity == config.Error {
			s = Fail
		}
		id := "config." + p.Key
		if p.Key == "" {
			id = fmt.Sprintf("config.problem%d", i+1)
		}
		fix := p.Hint
		if fix == "" {
			fix = "mend it with: hermes config edit"
		}
		at := ""
		if p.Line > 0 {
			at = fmt.Sprintf("line %d: ", p.Line)
		}
		what := "config.yaml " + at + p.Message
		if p.Key == "" && at == "" {
			what = p.Message
		}
		out = append(out, Finding{ID: id, Status: s, Message: what, Fix: fix})
	}
	if len(out) == 0 {
		return ok("config.yaml is in order")
	}
	return out
}

func (x Examined) version() []Finding {
	m, err := config.Pending(x.Config.Path(), x.Secrets)
	switch {
	case err != nil:
		return bad(Warn, "mend the file with: hermes config edit", "config.yaml cannot be looked through for old settings: %v", err)
	case m.From >= m.To && len(m.Changes) == 0:
		return ok("config.yaml has today's layout")
	}
	return []Finding{{
		Status: Warn, Message: fmt.Sprintf("config.yaml is of version %d, today's is %d", m.From, m.To), Fix: "hermes config migrate",
		Repair: func() (string, error) {
			m, err := config.Migrate(x.Config.Path(), x.Secrets, time.Now())
			return fmt.Sprintf("brought config.yaml from version %d to %d; the old one is %s", m.From, m.To, m.Backup), err
		},
	}}
}

func (x Examined) env() []Finding {
	path := x.Secrets.Path()
	var out []Finding
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		out = append(out, Finding{
			ID: "env.mode", Status: Warn, Message: fmt.Sprintf("%s can be read by other users (mode %04o)", path, info.Mode().Perm()), Fix: "chmod 600 " + path,
			Repair: func() (string, error) { return "made " + path + " private", os.Chmod(path, 0o600) },
		})
	}
	if glued := x.Secrets.Glued(); len(glued) > 0 {
		out = append(out, Finding{
			ID: "env.glued", Status: Warn, Message: fmt.Sprintf(".env: %s got lost in the value before it", strings.Join(glued, ", ")), Fix: "give each a line of its own",
			Repair: func() (string, error) {
				return "gave " + strings.Join(glued, ", ") + " a line of its own", x.Secrets.SplitGlued()
			},
		})
	}
	for i, w := range x.Secrets.Warnings() {
		out = append(out, Finding{ID: fmt.Sprintf("env.warning%d", i+1), Status: Warn, Message: w, Fix: "look at " + path})
	}
	names := x.Secrets.Names()
	for _, v := range x.Secrets.Vars() {
		if !slices.Contains(names, v.Name) {
			names = append(names, v.Name)
		}
	}
	set := 0
	for _, name := range names {
		value, from, _ := x.Secrets.Lookup(name)
		if value == "" {
			continue
		}
		set++
		if problem := JunkKey(name, value); problem != "" {
			out = append(out, Finding{ID: "env.shape." + name, Status: Warn, Message: fmt.Sprintf("%s looks wrong: %s", name, problem), Fix: "set it anew: hermes config set " + name})
		}
		if x.Secrets.Shadowed(name) {
			out = append(out, Finding{ID: "env.two." + name, Status: Warn, Message: fmt.Sprintf("%s is set twice and differently; the one of the %s counts", name, sourceName(from)), Fix: "remove one: hermes config unset " + name + ", or unset it in the shell"})
		}
	}
	if len(out) == 0 {
		return ok("%d variables are set", set)
	}
	return out
}

func sourceName(s secret.Source) string {
	if s == secret.FromFile {
		return ".env file"
	}
	return string(s)
}

func (x Examined) authFile() []Finding {
	path := AuthPath(x.Home)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok("no further keys in auth.json")
	case x.AuthErr != nil:
		return bad(Warn, "mend it, or move it away and add the keys again with: hermes auth add", "%v", x.AuthErr)
	case err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return []Finding{{
			Status: Warn, Message: fmt.Sprintf("%s can be read by other users (mode %04o)", path, info.Mode().Perm()), Fix: "chmod 600 " + path,
			Repair: func() (string, error) { return "made " + path + " private", os.Chmod(path, 0o600) },
		}}
	}
	return ok("auth.json has keys of %d services", len(x.Auth.Providers()))
}

func (x Examined) logs() []Finding {
	var size int64
	files, err := filepath.Glob(filepath.Join(x.Home, "logs", "*.log*"))
	if err != nil {
		return bad(Warn, "look at the directory", "logs: %v", err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
	}
	if size > 200<<20 {
		return bad(Warn, "remove old files, or lower logging.max_size_mb and logging.backup_count", "the logs take %d MB", size>>20)
	}
	return ok("%d log files, %.1f MB", len(files), float64(size)/(1<<20))
}

func (x Examined) model(r provider.Resolved, err error) []Finding {
	var missing *provider.SetupError
	switch {
	case errors.As(err, &missing):
		return bad(Fail, missing.Fix, "%s", missing.Problem)
	case err != nil:
		return bad(Fail, "hermes setup model", "%v", err)
	case r.Model == "" && !r.Endpoint.Local():
		return bad(Fail, "hermes model", "no model is chosen for %s", r.Kind.Name)
	}
	name := r.Model
	if name == "" {
		name = "the only model there"
	}
	where := r.Endpoint.BaseURL
	if where == "" {
		where = "this machine"
	}
	return ok("%s of %s at %s (%s)", name, r.Kind.Name, where, r.Source)
}

// answers asks a service for its models: that tries address and key.
func (x Examined) answers(ctx context.Context, r provider.Resolved) []Finding {
	if r.Endpoint.Wire == provider.Offline {
		return ok("the offline model needs no network")
	}
	start := time.Now()
	models, err := x.Models(ctx, r.Endpoint)
	took := time.Since(start).Round(time.Millisecond)
	who := r.Kind.Name + " at " + r.Endpoint.Host()
	where := "look at the network or the address: hermes config get model"
	switch {
	case r.Endpoint.Local():
		where = "start the server, or choose another: hermes setup model"
	case r.Model == "" || r.Source != "" && secret.ValidName(r.Source):
		where = "look at the network; without need of the service: hermes config unset " + r.Source
	}
	var refused *provider.Error
	switch {
	case err == nil && r.Model != "" && len(models) > 0 && !slices.ContainsFunc(models, func(m provider.Model) bool { return sameModel(m.ID, r.Model) }):
		return bad(Warn, "hermes model list --live, then: hermes model set NAME", "%s answers, but does not list %s", who, r.Model)
	case err == nil && r.Endpoint.Key == "":
		return ok("%s answers in %s", who, took)
	case err == nil:
		return ok("%s answers in %s and takes the key", who, took)
	case errors.As(err, &refused) && (refused.Status == 401 || refused.Status == 403):
		return bad(Fail, "set another key: hermes setup model", "%s refuses the key of %s: %v", who, r.Source, refused)
	case errors.As(err, &refused) && (refused.Status == 404 || refused.Status == 405):
		return ok("%s answers; it lists no models, so the key was not tried", who)
	case errors.As(err, &refused) && refused.Status != 0:
		return bad(Warn, "try again later", "%s answers with an error: %v", who, refused)
	case ctx.Err() != nil:
		return bad(Fail, where, "%s gave no answer in %s", who, networkLimit)
	case strings.Contains(err.Error(), "has no list"):
		return ok("%s lists no models, so the key was not tried", who)
	}
	return bad(Fail, where, "%s cannot be reached: %v", who, err)
}

func sameModel(listed, wanted string) bool {
	listed, wanted = strings.TrimPrefix(listed, "models/"), strings.TrimPrefix(wanted, "models/")
	return strings.EqualFold(listed, wanted) || strings.EqualFold(listed, wanted+":latest")
}

func (x Examined) fallbacks() []Finding {
	list, err := x.Fallbacks()
	if err != nil {
		return bad(Warn, "hermes config edit", "%v", err)
	}
	var out []Finding
	for i, f := range list {
		if f.Err != nil {
			out = append(out, Finding{ID: fmt.Sprintf("model.fallback.%d", i), Status: Warn, Message: fmt.Sprintf("fallback %d (%s) cannot be used: %v", i+1, f.Label, f.Err), Fix: fmt.Sprintf("set it up, or: hermes fallback remove %d", i+1)})
		}
	}
	if len(out) == 0 {
		return ok("%d fallbacks", len(list))
	}
	return out
}

func (x Examined) pools() []Finding {
	var out []Finding
	n := 0
	now := time.Now()
	for _, name := range x.Auth.Providers() {
		for _, l := range x.Auth.Logins(name) {
			n++
			if l.Status == "exhausted" && now.Before(l.Until) {
				out = append(out, Finding{ID: "auth.pool." + name + "." + l.ID, Status: Warn, Message: fmt.Sprintf("%s key %s is exhausted until %s: %s", name, l.Label, l.Until.Local().Format("15:04"), l.Reason), Fix: "wait, or: hermes auth reset " + name})
			}
		}
	}
	if len(out) == 0 {
		return ok("%d keys in pools, none exhausted", n)
	}
	return out
}

func (x Examined) backend(ctx context.Context) []Finding {
	kind, o, err := x.Backend()
	if err != nil {
		return bad(Fail, "hermes config set terminal.backend local", "%v", err)
	}
	if kind.Probe != nil {
		if err := kind.Probe(ctx, o); err != nil {
			return bad(Fail, "install what it needs, or: hermes config set terminal.backend local", "commands cannot run (%s): %v", kind.Name, err)
		}
	}
	if o.Cwd != "" && kind.Name == "local" {
		if info, err := os.Stat(o.Cwd); err != nil || !info.IsDir() {
			return bad(Fail, "hermes config set terminal.cwd .", "terminal.cwd %s is no directory", o.Cwd)
		}
	}
	if kind.Level != nil {
		return ok("commands run on %s: %s", kind.Name, kind.Level(ctx, o))
	}
	return ok("commands run on %s", kind.Name)
}

// backends tells of every other kind whether it would work here. What is not
// in use is no fault, so none of it is a warning.
func (x Examined) backends(ctx context.Context) []Finding {
	active, o, _ := x.Backend() // an unknown one has a check of its own
	out := make([]Finding, 0, len(backend.All())+1)
	var wg sync.WaitGroup
	for _, k := range backend.All() {
		if k.Name == active.Name || x.Offline && k.Remote {
			continue
		}
		out = append(out, Finding{ID: "terminal.backends." + k.Name, Status: OK})
		f := &out[len(out)-1]
		wg.Go(func() {
			f.Message = k.Name + " could be used"
			if k.Probe != nil {
				if err := k.Probe(ctx, o); err != nil {
					f.Message = k.Name + " cannot be used here: " + err.Error()
					return
				}
			}
			if k.Level != nil {
				f.Message += ": " + k.Level(ctx, o)
			}
		})
	}
	wg.Wait()
	return append(out, Finding{ID: "terminal.backends.vercel_sandbox", Status: OK, Message: "vercel_sandbox is not built into this program"})
}

func (x Examined) store(ctx context.Context) []Finding {
	text, err := x.Store(ctx)
	if err != nil {
		return bad(Fail, "the message says what can be done; the file is "+filepath.Join(x.Home, "state.db"), "%v", err)
	}
	return ok("%s", text)
}

func (x Examined) tools(ctx context.Context) []Finding {
	list, err := x.Tools(ctx)
	if err != nil {
		return bad(Warn, "hermes config get platform_toolsets", "%v", err)
	}
	var out []Finding
	on := 0
	for _, t := range list {
		switch {
		case !t.Enabled: // switched off on purpose
		case t.Available:
			on++
		default:
			fix := "hermes tools why " + t.Name
			if missing := x.missing(t.Env); len(missing) > 0 {
				fix = "hermes config set " + strings.Join(missing, ", hermes config set ")
			}
			out = append(out, Finding{ID: "tools." + t.Name, Status: Warn, Message: fmt.Sprintf("%s is not available: %s", t.Name, t.Reason), Fix: fix})
		}
	}
	return append(ok("%d tools can be used", on), out...)
}

func (x Examined) missing(names []string) []string {
	var out []string
	for _, n := range names {
		if x.Secrets.Get(n) == "" {
			out = append(out, n)
		}
	}
	return out
}

func (x Examined) programs() []Finding {
	var out []Finding
	for _, p := range []struct{ name, why string }{
		{"git", "undoing file changes and skills from repositories need it"},
		{"rg", "searching files is faster with it"},
	} {
		path, err := exec.LookPath(p.name)
		f := Finding{ID: "programs." + p.name, Status: OK, Message: p.name + " is " + path}
		if err != nil {
			f.Status, f.Message, f.Fix = Warn, p.name+" is not installed; "+p.why, "install "+p.name
		}
		out = append(out, f)
	}
	return out
}
