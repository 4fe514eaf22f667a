// Package ssh runs commands on another machine, by an SSH client of its own:
// no ssh program, no control socket. Files are reached there too; credential
// files are brought over before the first command. It sets up nothing there,
// and trusts no machine that is not in known_hosts.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/remote"
	"github.com/hermes-go/hermes/internal/shellstate"
	"github.com/hermes-go/hermes/secret"
)

const kind = "ssh"

func init() {
	backend.Register(backend.Kind{
		Name:     kind,
		About:    "Commands run on another machine, over SSH.",
		Isolated: false,
		Remote:   true,
		Env: []secret.Var{
			{Name: "TERMINAL_SSH_HOST", About: "Machine of the ssh backend", Category: secret.Setting, Advanced: true},
			{Name: "TERMINAL_SSH_USER", About: "User there", Category: secret.Setting, Advanced: true},
			{Name: "TERMINAL_SSH_PORT", About: "Port there", Category: secret.Setting, Advanced: true},
			{Name: "TERMINAL_SSH_KEY", About: "File of the private key", Category: secret.Setting, Advanced: true},
		},
		Probe: func(ctx context.Context, o backend.Options) error {
			t, err := read(o, secret.Environ())
			if err != nil {
				return err
			}
			c, err := t.dial(ctx)
			if err != nil {
				return err
			}
			return c.Close()
		},
		Open: func(_ context.Context, o backend.Options) (backend.Env, error) {
			t, err := read(o, secret.Environ())
			if err != nil {
				return nil, err
			}
			return open(o, t)
		},
	})
}

// settings are the keys of the terminal section that matter here.
type settings struct {
	Host  string   `yaml:"ssh_host"`
	User  string   `yaml:"ssh_user"`
	Port  int      `yaml:"ssh_port"`
	Key   string   `yaml:"ssh_key"`
	Creds []string `yaml:"credential_files"`
}

func read(o backend.Options, environ []string) (target, error) {
	s := settings{Port: 22}
	if o.Decode != nil {
		if err := o.Decode(&s); err != nil {
			return target{}, fmt.Errorf("terminal settings: %w", err)
		}
	}
	if s.Host == "" {
		return target{}, errors.New("it is not set up: hermes config set terminal.ssh_host HOST")
	}
	t := target{host: s.Host, user: s.User, key: s.Key, port: s.Port, home: o.Home, agent: shellstate.Value(environ, "SSH_AUTH_SOCK")}
	if t.port <= 0 || t.port > 65535 {
		return t, fmt.Errorf("terminal.ssh_port %d is no port", t.port)
	}
	me, err := user.Current()
	if t.userHome, _ = os.UserHomeDir(); t.userHome == "" { // a service may have no HOME
		if err != nil {
			return t, fmt.Errorf("find known_hosts: %w", err)
		}
		t.userHome = me.HomeDir
	}
	if t.user == "" {
		if err != nil {
			return t, fmt.Errorf("terminal.ssh_user is not set: %w", err)
		}
		t.user = me.Username
	}
	return t, nil
}

// env is the environment of one task.
type env struct {
	*remote.Full
	machine *machine
}

func open(o backend.Options, t target) (*env, error) {
	m := &machine{target: t}
	var s settings
	if o.Decode != nil {
		if err := o.Decode(&s); err != nil {
			return nil, fmt.Errorf("terminal settings: %w", err)
		}
	}
	// A directory of this machine means nothing there, unless the configuration
	// names it for there.
	o.Cwd = "~"
	var set struct {
		Cwd string `yaml:"cwd"`
	}
	if o.Decode != nil {
		if err := o.Decode(&set); err == nil && set.Cwd != "" && set.Cwd != "." {
			o.Cwd = set.Cwd
		}
	}
	r := remote.New(remote.Options{Options: o, Kind: kind, Place: m, Name: t.host})
	e := &env{Full: r.WithFiles(), machine: m}
	shell := e.FileSystem
	f := &files{FileSystem: shell, machine: m}
	e.FileSystem = f
	shut := e.Shut
	e.Shut = func() { f.close(); shut() }
	c := &carrier{files: f, o: o, names: s.Creds}
	r.Before(c.bring)
	r.After(func(ctx context.Context) error { return errors.Join(c.fetch(ctx), m.close(ctx)) })
	return e, nil
}
