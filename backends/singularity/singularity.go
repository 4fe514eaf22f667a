// Package singularity runs commands in an instance of an image by Apptainer,
// or Singularity as it was called: containers for machines where users have no
// daemon. It drives that program, so what it protects is what that does. It was
// tested against a stand-in for the program only.
package singularity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/hostshell"
	"github.com/hermes-go/hermes/internal/remote"
	"github.com/hermes-go/hermes/internal/shellstate"
	"github.com/hermes-go/hermes/secret"
)

const kind = "singularity"

func init() {
	backend.Register(backend.Kind{
		Name:     kind,
		About:    "Commands run in an Apptainer (Singularity) instance of this machine.",
		Isolated: true,
		Probe: func(ctx context.Context, o backend.Options) error {
			path, err := find(secret.Environ())
			if err != nil {
				return err
			}
			if out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput(); err != nil {
				return fmt.Errorf("%s --version: %w: %s", path, err, bytes.TrimSpace(out))
			}
			_, err = read(o)
			return err
		},
		Open: func(_ context.Context, o backend.Options) (backend.Env, error) {
			path, err := find(secret.Environ())
			if err != nil {
				return nil, err
			}
			return open(o, path, secret.Environ())
		},
	})
}

// find looks for the program under both names.
func find(environ []string) (string, error) {
	for _, name := range []string{"apptainer", "singularity"} {
		for dir := range strings.SplitSeq(shellstate.Value(environ, "PATH"), ":") {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", errors.New("neither apptainer nor singularity is installed")
}

// settings are the keys of the terminal section that matter here.
type settings struct {
	Image      string   `yaml:"singularity_image"`
	CPU        float64  `yaml:"container_cpu"`
	Memory     int      `yaml:"container_memory"`
	Persistent bool     `yaml:"container_persistent"`
	Dir        string   `yaml:"sandbox_dir"`
	Creds      []string `yaml:"credential_files"`
}

func read(o backend.Options) (settings, error) {
	s := settings{Image: "docker://nikolaik/python-nodejs:python3.11-nodejs20", CPU: 1, Memory: 5120, Persistent: true}
	if o.Decode != nil {
		if err := o.Decode(&s); err != nil {
			return s, fmt.Errorf("terminal settings: %w", err)
		}
	}
	if s.Image == "" {
		return s, errors.New("terminal.singularity_image is empty: hermes config set terminal.singularity_image IMAGE")
	}
	return s, nil
}

// env is the environment of one task.
type env struct{ *remote.Full }

var _ backend.Isolated = env{}

// Isolated implements backend.Isolated: nothing of this machine is mounted but
// credential files, for reading.
func (env) Isolated() bool { return true }

func open(o backend.Options, path string, environ []string) (env, error) {
	s, err := read(o)
	if err != nil {
		return env{}, err
	}
	i := &instance{path: path, o: o, set: s, environ: environ}
	o.Cwd = home
	r := remote.New(remote.Options{Options: o, Kind: kind, Place: i, Name: "the instance", Close: i.stop})
	return env{r.WithFiles()}, nil
}

const home = "/root"

// instance is the running image of a task.
type instance struct {
	path    string
	o       backend.Options
	set     settings
	environ []string

	mu   sync.Mutex
	name string
}

// start makes the instance run, if it does not.
func (i *instance) start(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.name != "" {
		return i.name, nil
	}
	sum := sha256.Sum256([]byte(i.o.Task + "\x00" + hostshell.Self(kind).Start + fmt.Sprint(os.Getpid())))
	name := "hermes-" + hex.EncodeToString(sum[:6])
	args := []string{"instance", "start", "--containall", "--no-home"}
	if i.set.Persistent {
		dir := i.set.Dir
		if dir == "" {
			dir = filepath.Join(i.o.Home, "sandboxes")
		}
		task := sha256.Sum256([]byte(i.o.Task))
		dir = filepath.Join(dir, "singularity", hex.EncodeToString(task[:6]))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("directory of the instance: %w", err)
		}
		args = append(args, "--overlay", dir)
	} else {
		args = append(args, "--writable-tmpfs")
	}
	if i.set.Memory > 0 {
		args = append(args, "--memory", fmt.Sprintf("%dM", i.set.Memory))
	}
	if i.set.CPU > 0 {
		args = append(args, "--cpus", fmt.Sprint(i.set.CPU))
	}
	for _, cred := range i.o.Credentials(i.set.Creds) {
		file, err := backend.CredentialFile(i.o.Home, cred)
		if err != nil {
			if i.o.Log != nil {
				i.o.Log.Warn("terminal.credential_files", "err", err)
			}
			continue
		}
		args = append(args, "--bind", file+":"+home+"/.hermes/"+filepath.ToSlash(cred)+":ro")
	}
	if out, err := i.run(ctx, append(args, i.set.Image, name)...); err != nil {
		return "", fmt.Errorf("start an instance of %s: %w: %s", i.set.Image, err, out)
	}
	i.name = name
	return name, nil
}

func (i *instance) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, i.path, args...)
	cmd.Env = i.vars(nil)
	out, err := cmd.CombinedOutput()
	return string(bytes.TrimSpace(out)), err
}

// vars is the environment of the program. What commands get is marked, so that
// it passes into the instance without standing on a command line; nothing else
// does.
func (i *instance) vars(pass []string) []string {
	var vars []string
	for _, name := range []string{"PATH", "HOME", "USER", "XDG_RUNTIME_DIR", "TMPDIR", "APPTAINER_CACHEDIR", "APPTAINER_TMPDIR", "SINGULARITY_CACHEDIR", "SINGULARITY_TMPDIR"} {
		if v := shellstate.Value(i.environ, name); v != "" {
			vars = append(vars, name+"="+v)
		}
	}
	for _, v := range pass {
		vars = append(vars, "APPTAINERENV_"+v, "SINGULARITYENV_"+v)
	}
	return vars
}

// Start implements remote.Place.
func (i *instance) Start(ctx context.Context, p remote.Program) (remote.Conn, error) {
	name, err := i.start(ctx)
	if err != nil {
		return nil, err
	}
	args := append([]string{filepath.Base(i.path), "exec", "--cleanenv", "instance://" + name}, p.Argv...)
	return remote.Command(&exec.Cmd{Path: i.path, Args: args, Dir: "/", Env: i.vars(p.Env)}, p)
}

func (i *instance) stop(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.name == "" {
		return nil
	}
	name := i.name
	i.name = ""
	if out, err := i.run(ctx, "instance", "stop", name); err != nil {
		return fmt.Errorf("stop the instance: %w: %s", err, out)
	}
	return nil
}
