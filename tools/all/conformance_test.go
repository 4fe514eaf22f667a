package all

import (
	"context"
	"errors"
	"testing"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/backend"
	_ "github.com/hermes-go/hermes/backends/all"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/delegate"
	"github.com/hermes-go/hermes/internal/memory"
	"github.com/hermes-go/hermes/internal/skill"
	"github.com/hermes-go/hermes/internal/store"
	"github.com/hermes-go/hermes/tool"
	"github.com/hermes-go/hermes/tool/tooltest"
)

type loop struct{}

type noStore struct{}

func (noStore) DB() (*store.DB, error) { return nil, errors.New("there is no database here") }

// childless makes no children: every task is one too deep.
type childless struct{}

func (childless) Settings() delegate.Settings { return delegate.Settings{} }
func (childless) Depth() int                  { return 1 }
func (childless) Spawn(context.Context, delegate.Spec) (*delegate.Child, error) {
	return nil, errors.New("there are no children here")
}

// noScripts has no place for generated code.
type noScripts struct{}

func (noScripts) ScriptSettings() backend.ScriptSettings { return backend.DefaultScriptSettings() }
func (noScripts) ScriptPlace(context.Context, string) (backend.ScriptPlace, error) {
	return backend.ScriptPlace{}, errors.New("there is no place for scripts here")
}

func (loop) LastResult(string) (string, bool) { return "", false }

// TestConformance holds every built-in tool to the contract.
func TestConformance(t *testing.T) {
	t.Parallel()
	r := tool.Builtin()
	services := tool.NewServices(nil)
	pool := &backend.Pool{Open: func(ctx context.Context, task string) (backend.Env, error) {
		k, _ := backend.Lookup("local")
		return k.Open(ctx, backend.Options{Task: task, Cwd: t.TempDir(), Home: t.TempDir()})
	}}
	t.Cleanup(func() { _ = pool.Close(context.Background()) })
	tool.ProvideAs(services, tool.NewTasks(nil))
	tool.ProvideAs(services, memory.New(t.TempDir(), memory.Limits{}))
	tool.ProvideAs(services, skill.Open(skill.Options{Home: t.TempDir()}))
	tool.ProvideAs[backend.Provider](services, pool)
	tool.ProvideAs[store.Opener](services, noStore{})
	tool.ProvideAs[backend.ScriptHost](services, noScripts{})
	tool.ProvideAs(services, r.Nested("read_file"))
	tool.ProvideAs[agent.Loop](services, loop{})
	tool.ProvideAs[delegate.Spawner](services, childless{})
	tool.ProvideAs[ask.Asker](services, ask.Nobody{})
	tool.ProvideAs(services, (&ask.Gate{}).For(ask.Nobody{}))
	s := &tool.Session{ID: "conformance", Platform: "cli", Services: services}
	for _, name := range r.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tooltest.Run(t, r, s, name)
		})
	}
}
