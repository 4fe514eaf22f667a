// Package docker runs commands in a container, by the Engine API: one
// container for each task, limited, without privileges, and seen after when
// this program is gone. Podman's service of the same API does too. It builds no
// images, and knows nothing of clusters.
package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/remote"
	"github.com/hermes-go/hermes/secret"
)

const kind = "docker"

func init() {
	backend.Register(backend.Kind{
		Name:     kind,
		About:    "Commands run in a container of this machine.",
		Isolated: true,
		SkillsAt: home + "/.hermes/skills",
		Probe:    func(ctx context.Context, o backend.Options) error { return probe(ctx, o, secret.Environ()) },
		Level:    func(ctx context.Context, o backend.Options) string { return level(ctx, o, secret.Environ()) },
		Open: func(_ context.Context, o backend.Options) (backend.Env, error) {
			e, err := newEngine(secret.Environ())
			if err != nil {
				return nil, err
			}
			return open(o, e)
		},
	})
}

// settings are the keys of the terminal section that matter here.
type settings struct {
	Image      string            `yaml:"docker_image"`
	Volumes    []string          `yaml:"docker_volumes"`
	Env        map[string]string `yaml:"docker_env"`
	MountCwd   bool              `yaml:"docker_mount_cwd_to_workspace"`
	HostUser   bool              `yaml:"docker_run_as_host_user"`
	Network    bool              `yaml:"docker_network"`
	CPU        float64           `yaml:"container_cpu"`
	Memory     int               `yaml:"container_memory"`
	Disk       int               `yaml:"container_disk"`
	Persistent bool              `yaml:"container_persistent"`
	Dir        string            `yaml:"sandbox_dir"`
	Creds      []string          `yaml:"credential_files"`
}

func read(o backend.Options) (settings, error) {
	s := settings{Image: "nikolaik/python-nodejs:python3.11-nodejs20", Network: true, CPU: 1, Memory: 5120, Disk: 51200, Persistent: true}
	if o.Decode != nil {
		if err := o.Decode(&s); err != nil {
			return s, fmt.Errorf("terminal settings: %w", err)
		}
	}
	if s.Image == "" {
		return s, errors.New("terminal.docker_image is empty: hermes config set terminal.docker_image IMAGE")
	}
	return s, nil
}

// probe reports why no container can run; it starts none.
func probe(ctx context.Context, o backend.Options, environ []string) error {
	e, err := newEngine(environ)
	if err != nil {
		return err
	}
	if _, err := read(o); err != nil {
		return err
	}
	v, err := e.version(ctx)
	if err != nil {
		return err
	}
	if v.OS != "" && v.OS != "linux" {
		return fmt.Errorf("docker at %s runs %s containers: switch it to Linux ones", e.name, v.OS)
	}
	return nil
}

// level says what containers are held to.
func level(ctx context.Context, o backend.Options, environ []string) string {
	e, err := newEngine(environ)
	if err != nil {
		return err.Error()
	}
	v, err := e.version(ctx)
	if err != nil {
		return err.Error()
	}
	s, err := read(o)
	if err != nil {
		return err.Error()
	}
	network := "with a network"
	if !s.Network {
		network = "without a network"
	}
	text := fmt.Sprintf("Engine %s (API %s); dropped capabilities, no new privileges, limits of processor, memory and processes, %s", v.Version, v.APIVersion, network)
	if !s.contained() {
		text += "; directories of this machine can be changed, so approvals still ask"
	}
	return text
}

// contained reports whether nothing of the user's can be changed from inside.
func (s settings) contained() bool {
	if s.MountCwd {
		return false
	}
	for _, v := range s.Volumes {
		part := strings.Split(v, ":")
		if len(part) < 3 || !strings.Contains(","+part[2]+",", ",ro,") {
			return false
		}
	}
	return true
}

// env is the environment of one task.
type env struct {
	*remote.Full
	place     *container
	contained bool
}

var _ backend.Isolated = (*env)(nil)

// Isolated implements backend.Isolated.
func (e *env) Isolated() bool { return e.contained }

func open(o backend.Options, e *engine) (*env, error) {
	s, err := read(o)
	if err != nil {
		return nil, err
	}
	c := &container{engine: e, o: o, set: s}
	dir := "/root"
	if s.MountCwd {
		dir = "/workspace"
	}
	// A directory of this machine means nothing in there.
	o.Cwd = dir
	r := remote.New(remote.Options{Options: o, Kind: kind, Place: c, Name: "the container", Close: c.close})
	return &env{Full: r.WithFiles(), place: c, contained: s.contained()}, nil
}

func randomBytes() []byte {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return b[:]
}
