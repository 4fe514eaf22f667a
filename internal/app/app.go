// Package app builds the program from one home: configuration, secrets, store,
// tools, models and the loop, each made when it is first needed. It is the
// only place that knows all of them; what a front shows or asks is not its
// matter.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/catalog"
	"github.com/hermes-go/hermes/internal/checkpoint"
	"github.com/hermes-go/hermes/internal/config"
	"github.com/hermes-go/hermes/internal/files"
	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/internal/spend"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/internal/toolset"
	"github.com/hermes-go/hermes/provider"
	"github.com/hermes-go/hermes/secret"
	"github.com/hermes-go/hermes/tool"
)

// Options say for which home and surroundings an App is built.
type Options struct {
	Home     string
	UserHome string
	WorkDir  string
	Environ  []string
	Notice   func(string) // what a person should know; nil: dropped
	Version  string       // of the program, for records
	Last     bool         // the process ends when this app is closed
	Saved    bool         // working trees are saved before changes, whatever the configuration says

	// Enter may choose another working directory, which holds whatever the
	// configuration says, with a note on it for the model; nil: nothing is chosen.
	Enter func(*config.Config) (dir, note string, err error)
}

// App is everything that is shared by the sessions of one home.
type App struct {
	Options
	Config   *config.Config
	Secrets  *secret.Store
	Registry *tool.Registry
	Log      *slog.Logger
	Skills   *skill.Library

	Checkpoints *checkpoint.Store

	entered string // what the model is to know of the working directory, if it was chosen by Enter

	services *tool.Services
	tasks    *tool.Tasks
	pool     *backend.Pool
	once     backend.Once // shared by the environments of the pool
	agent    *agent.Agent

	transcript *transcript
	logs       []*logFile
	alive      context.Context // ends when the app is closed
	die        context.CancelFunc
	naming     sync.WaitGroup // models that look for a title
	passes     *passes
	curated    sync.Once
	decided    string // about the project, in this run

	db      func() (*store.DB, error)
	ahead   sync.Once
	opening sync.WaitGroup // see openAhead

	book         *book
	ledger       *spend.Ledger
	houseAccount *spend.Account // pays for what belongs to no conversation
	prices       func() *catalog.Catalog

	toolsets func() (*toolset.Table, error)

	mu       sync.Mutex
	opened   *store.DB
	closers  []io.Closer // cassettes being written
	asked    bool        // for the store
	held     []string    // notices of the store from before
	prompt   *builtPrompt
	loadable loadable
	authState

	clientsMu sync.Mutex
	clients   map[string]provider.Client // by endpoint
	offeredMu sync.Mutex
	offered   map[string]toolset.Effective
}

// Open reads the configuration and wires the parts. It touches no network,
// starts no process and opens no database.
func Open(o Options) (*App, error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Last {
		collectLater()
	}
	secrets, err := secret.Open(o.Home, o.Environ)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(o.Home, func(name string) (string, bool) {
		v, _, ok := secrets.Lookup(name)
		return v, ok
	})
	if err != nil {
		return nil, err
	}
	entered := ""
	if o.Enter != nil {
		dir, note, err := o.Enter(cfg)
		if err != nil {
			return nil, err
		}
		if dir != "" {
			o.WorkDir, entered = dir, note
		}
	}
	a := &App{Options: o, entered: entered, Config: cfg, Secrets: secrets, Registry: tool.Builtin(), tasks: tool.NewTasks(nil), clients: map[string]provider.Client{}, offered: map[string]toolset.Effective{}}
	for _, p := range cfg.Warnings() {
		o.Notice(p.String())
	}
	secrets.Declare(a.Vars()...)
	for name, value := range cfg.Secrets() {
		secrets.Learn(name, value)
	}
	a.logins()
	a.openLogs()
	a.alive, a.die = context.WithCancel(context.Background())
	a.db = sync.OnceValues(a.openStore)
	a.toolsets = sync.OnceValues(a.readToolsets)
	a.book = &book{app: a, waiting: map[string][]store.Spent{}, flying: map[string][]store.Spent{}}
	a.openLedger()
	a.provide()
	a.Checkpoints = a.openCheckpoints()
	a.Registry.Use(tool.Limit(a.Registry), redactResults(secrets.Redactor()), a.tellNearby, tellNudge, files.Watch)
	a.transcript = &transcript{app: a, drafts: map[string]*os.File{}}
	a.agent = agent.New(agent.Deps{
		Tools: a.Registry, Transcript: a.transcript, Journal: a.transcript, Log: a.Log, Guard: a.guardrails(), Mask: secrets.Redactor(),
		MostAtOnce: a.mostAtOnce,
		Aux:        &agent.Aux{Open: a.auxClient, Configured: a.auxConfigured},
	})
	tool.ProvideAs(a.services, a.agent.Aux)
	return a, nil
}

// collectLater has the first garbage collection wait for a heap of 16 MB instead
// of 4, which most commands end without. From then on all is as usual.
func collectLater() {
	const usual = 100
	if was := debug.SetGCPercent(4 * usual); was != usual { // GOGC says something else
		debug.SetGCPercent(was)
		return
	}
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}

// DB opens the session store at its first use.
func (a *App) DB() (*store.DB, error) {
	db, err := a.db()
	a.mu.Lock()
	held := a.held
	a.asked, a.held = true, nil
	a.mu.Unlock()
	for _, text := range held {
		a.Notice(text)
	}
	return db, err
}

// openAhead opens the store and makes it ready for messages while the rest of a
// conversation is made. Both take about as long.
func (a *App) openAhead() {
	a.ahead.Do(func() {
		a.opening.Go(func() {
			if db, err := a.db(); err == nil { // an error is that of DB too
				db.Warm()
			}
		})
	})
}

// noticeOfStore tells what the store has to say; what it says while it is
// opened ahead is told when somebody asks for it.
func (a *App) noticeOfStore(err error) {
	a.mu.Lock()
	asked := a.asked
	if !asked {
		a.held = append(a.held, err.Error())
	}
	a.mu.Unlock()
	if asked {
		a.Notice(err.Error())
	}
}

func (a *App) openStore() (*store.DB, error) {
	if err := a.ensureHome(); err != nil {
		a.noticeOfStore(err) // a chat does not end because its record does; the store says the rest
	}
	db, err := store.Open(filepath.Join(a.Home, "state.db"), store.Options{
		Synchronous: a.Config.String("sessions.synchronous"),
		Spare:       spareDir(),
		Notice:      a.noticeOfStore,
		Log:         a.Log,
	})
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.opened = db
	a.mu.Unlock()
	return db, nil
}

// ensureHome makes the home with its standard directories; what exists is left
// alone.
func (a *App) ensureHome() error {
	return config.CreateHome(a.Home, func(name string) (string, bool) {
		v, _, ok := a.Secrets.Lookup(name)
		return v, ok
	}, nil)
}

// Close ends everything that runs for this app.
func (a *App) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	errs := []error{a.tasks.Close(), a.pool.Close(ctx), a.Checkpoints.Close()}
	a.die()
	a.naming.Wait()
	for _, c := range a.closers {
		errs = append(errs, c.Close())
	}
	a.opening.Wait()
	a.mu.Lock()
	db := a.opened
	a.mu.Unlock()
	switch {
	case db != nil && a.Last:
		errs = append(errs, db.Leave())
	case db != nil:
		errs = append(errs, db.Close())
	}
	for _, l := range a.logs {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// Toolsets is the table of toolsets with the configuration's own.
func (a *App) Toolsets() (*toolset.Table, error) { return a.toolsets() }

func (a *App) readToolsets() (*toolset.Table, error) {
	var custom map[string][]string
	if err := config.Decode(a.Config, "custom_toolsets", &custom); err != nil {
		return nil, err
	}
	return toolset.New(a.Registry, toolset.Options{Custom: custom}), nil
}

// Session returns the tool-side session of no conversation, as `tools run`
// needs it.
func (a *App) Session(id, taskID, platform string) *tool.Session {
	services := tool.NewServices(a.services)
	tool.ProvideAs[ask.Asker](services, ask.Nobody{})
	tool.ProvideAs(services, (&ask.Gate{Mode: ask.Manual, Saved: a.savedApprovals()}).For(ask.Nobody{}))
	return &tool.Session{ID: id, TaskID: taskID, Platform: platform, Services: services}
}

// Vars lists every declared variable: those of the tools and of the model
// services.
func (a *App) Vars() []secret.Var { return declaredVars(a.Registry) }
