// Package sandbox runs commands on this machine held to declared paths by the
// kernel (Linux), with or without a network; files are read and written under
// the same rule. How much of that holds depends on the kernel, and is told as
// it is. It is no virtual machine: programs share the kernel, the processor
// and the memory of the user's own.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/confine"
	"github.com/hermes-go/hermes/internal/hostshell"
	"github.com/hermes-go/hermes/internal/shellstate"
)

const name = "sandbox"

func init() {
	backend.Register(backend.Kind{
		Name:  name,
		About: "Commands run on this machine, held to declared paths by the kernel (Linux).",
		Probe: func(context.Context, backend.Options) error {
			return errors.Join(confine.Look().Err(), hostshell.Probe())
		},
		Level: func(context.Context, backend.Options) string { return confine.Look().String() },
		Open:  func(ctx context.Context, o backend.Options) (backend.Env, error) { return open(ctx, o) },
		Alive: hostshell.Alive,
		End:   hostshell.End,
	})
}

// settings are the keys of the terminal section that matter here.
type settings struct {
	Read    []string `yaml:"sandbox_read"`
	Write   []string `yaml:"sandbox_write"`
	Network bool     `yaml:"sandbox_network"`
	Creds   []string `yaml:"credential_files"`
}

// env is a shell whose programs are confined, and files seen as they see them.
type env struct {
	*hostshell.Shell
	*confine.Files
}

func (e *env) Close(ctx context.Context) error {
	e.Files.Close()
	return e.Shell.Close(ctx)
}

func open(ctx context.Context, o backend.Options) (*env, error) {
	level, err := look(ctx, o.Once)
	if err != nil {
		return nil, err
	}
	var set settings
	if o.Decode != nil {
		if err := o.Decode(&set); err != nil {
			return nil, fmt.Errorf("terminal settings: %w", err)
		}
	}
	var vars []string
	if o.Vars != nil {
		vars = o.Vars()
	}
	p := policy(set, vars, o)
	h, err := hostshell.Open(ctx, hostshell.Options{
		Options: o, Kind: name,
		Launch: func(cmd *exec.Cmd) error { return confine.Wrap(cmd, p, level) },
	})
	if err != nil {
		return nil, err
	}
	return &env{h.Shell, &confine.Files{Policy: p, Level: level, HomeDir: h.HomeDir}}, nil
}

// look asks once for all tasks: trying bubblewrap takes a moment.
func look(ctx context.Context, once *backend.Once) (confine.Level, error) {
	v, err := once.Do(ctx, "sandbox", func() (any, error) {
		l := confine.Look()
		return l, l.Err()
	})
	if err != nil {
		return confine.Level{}, err
	}
	return v.(confine.Level), nil
}

// policy says what commands may reach: the system's programs and settings
// without its secrets, where PATH leads, the task's directory, the directory
// for temporary files, and what the configuration adds.
func policy(set settings, vars []string, o backend.Options) confine.Policy {
	home := shellstate.Value(vars, "HOME")
	if home == "" {
		home, _ = os.UserHomeDir() // "" is nobody's
	}
	abs := func(p string) string {
		if p == "~" || strings.HasPrefix(p, "~/") {
			p = home + p[1:]
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(o.Cwd, p)
		}
		return filepath.Clean(p)
	}
	p := confine.Policy{Network: set.Network}
	p.Read = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/snap", "/proc", "/sys", "/var/lib/dpkg", "/run/current-system"}
	p.Read = append(p.Read, settingsOfSystem()...)
	for dir := range strings.SplitSeq(shellstate.Value(vars, "PATH"), ":") {
		if dir = filepath.Clean(dir); filepath.IsAbs(dir) && !strings.HasPrefix(home+"/", dir+"/") {
			p.Read = append(p.Read, toolDir(dir, home))
		}
	}
	if home != "" {
		for _, name := range []string{".profile", ".bash_profile", ".bashrc", ".gitconfig", ".config/git"} {
			p.Read = append(p.Read, filepath.Join(home, name))
		}
	}
	if o.Home != "" {
		p.Read = append(p.Read, filepath.Join(o.Home, "cache", "terminal")) // long outputs, in full
		for _, name := range o.Credentials(set.Creds) {
			if file, err := backend.CredentialFile(o.Home, name); err == nil {
				p.Read = append(p.Read, file)
			}
		}
		p.Hide = append(p.Hide, o.Home)
	}
	if network := "/run/systemd/resolve"; set.Network {
		p.Read = append(p.Read, network)
	}
	for _, dir := range set.Read {
		p.Read = append(p.Read, abs(dir))
	}
	p.Write = []string{abs(orDot(o.Cwd)), os.TempDir(), "/tmp", "/var/tmp"}
	for _, dir := range set.Write {
		p.Write = append(p.Write, abs(dir))
	}
	for _, list := range []*[]string{&p.Read, &p.Write} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return p
}

func orDot(dir string) string {
	if dir == "" {
		dir, _ = os.Getwd() // "" becomes ".", which then is no directory
	}
	return dir
}

// secretsOfSystem are the files of /etc that only the administrator reads.
var secretsOfSystem = []string{"shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "sudoers.d", "ssl", "ssh", "krb5.keytab", "security"}

// settingsOfSystem is /etc without secrets.
func settingsOfSystem() []string {
	list, err := os.ReadDir("/etc")
	if err != nil {
		return nil
	}
	all := []string{"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssh/ssh_config", "/etc/ssh/ssh_config.d", "/etc/ssh/ssh_known_hosts"}
	for _, d := range list {
		if !slices.Contains(secretsOfSystem, d.Name()) {
			all = append(all, filepath.Join("/etc", d.Name()))
		}
	}
	return all
}

// protected are directories of a home that are never opened for a tool's sake.
var protected = []string{".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config", ".hermes", ".password-store", ".mozilla"}

// toolDir is what a directory of programs needs to work: of one in the home
// the whole of its first part, as ~/.pyenv for ~/.pyenv/shims; of one in a
// hidden directory elsewhere that directory.
func toolDir(dir, home string) string {
	rel, err := filepath.Rel(home, dir)
	if home == "" || err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		if up := filepath.Dir(dir); strings.HasPrefix(filepath.Base(up), ".") && !slices.Contains(protected, filepath.Base(up)) {
			return up
		}
		return dir
	}
	first, _, _ := strings.Cut(rel, string(filepath.Separator))
	if slices.Contains(protected, first) {
		return dir
	}
	return filepath.Join(home, first)
}
