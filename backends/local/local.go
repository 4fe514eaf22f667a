// Package local runs commands in a shell on this machine, as the user, and
// reaches its files directly. It confines nothing: what a command may do is
// decided before it comes here.
package local

import (
	"context"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/hostshell"
	"github.com/hermes-go/hermes/secret"
)

const name = "local"

func init() {
	backend.Register(backend.Kind{
		Name:  name,
		About: "Commands run on this machine, as you.",
		Env: []secret.Var{
			{Name: "SUDO_PASSWORD", About: "Password for sudo in terminal commands", Category: secret.Setting, Secret: true, Advanced: true},
		},
		Probe: func(context.Context, backend.Options) error { return hostshell.Probe() },
		Open: func(ctx context.Context, o backend.Options) (backend.Env, error) {
			return hostshell.Open(ctx, hostshell.Options{Options: o, Kind: name})
		},
		Alive: hostshell.Alive,
		End:   hostshell.End,
		Self:  func() backend.ProcessID { return hostshell.Self(name) },
	})
}
