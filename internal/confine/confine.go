// Package confine starts programs that the kernel holds to declared paths, and
// reaches files under the same rule. The confinement is applied by a copy of
// this program that then becomes the other one, because it cannot be taken off
// again: Landlock for files, signals and abstract sockets, a system call filter
// for the network, and bubblewrap around both where it works. It decides
// nothing: what may be reached is the Policy it is given.
package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Policy is what a confined program may do. Nothing else is allowed.
type Policy struct {
	Read    []string `json:"read,omitempty"`  // files and directories, with all below: read and run
	Write   []string `json:"write,omitempty"` // the same, and changed
	Network bool     `json:"network,omitempty"`
	Hide    []string `json:"hide,omitempty"` // directories that bubblewrap shows empty; without it they are only out of reach
}

// Level is what this machine can enforce.
type Level struct {
	Landlock   int    // version of its interface; 0: none
	Bubblewrap string // its path; "": absent, or it does not work here
	NoWrap     string // why not
}

// Err is the reason why nothing can be confined here; nil: it can.
func (l Level) Err() error {
	if l.Landlock == 0 {
		return errors.New("this kernel has no Landlock (Linux 5.13 or newer, with landlock among its security modules): commands cannot be kept from files")
	}
	return nil
}

// String says what holds, and what does not.
func (l Level) String() string {
	if err := l.Err(); err != nil {
		return err.Error()
	}
	s := fmt.Sprintf("Landlock %d: files by path", l.Landlock)
	var lacks []string
	for _, f := range []struct {
		from int
		what string
	}{{2, "moving files between directories"}, {3, "emptying files"}, {5, "device controls"}, {6, "signals to other programs"}, {6, "abstract sockets"}, {9, "sockets of local services while the network is on"}} {
		switch {
		case l.Landlock >= f.from:
			s += ", " + f.what
		case f.from == 2: // denied altogether
		default:
			lacks = append(lacks, f.what)
		}
	}
	s += "; network by a system call filter"
	if l.Bubblewrap != "" {
		s += "; bubblewrap: /run and hidden directories are empty, network and IPC of its own"
	} else {
		s += "; no bubblewrap (" + l.NoWrap + ")"
	}
	if len(lacks) > 0 {
		s += ". Not held: " + strings.Join(lacks, ", ")
	}
	return s
}

// childArg is the first argument of a copy of this program that confines itself.
const childArg = "__confined"

// Child does the work of such a copy and returns its exit code; ok is false for
// every other start of the program.
func Child(args []string) (code int, ok bool) {
	if len(args) < 3 || args[1] != childArg {
		return 0, false
	}
	var p Policy
	err := json.Unmarshal([]byte(args[2]), &p)
	if err == nil {
		err = child(p, args[3:])
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "hermes sandbox:", err) // there is nobody else to tell
		return 126, true
	}
	return 0, true
}

// Wrap makes a command run confined.
func Wrap(cmd *exec.Cmd, p Policy, l Level) error {
	if err := l.Err(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("confine the command: %w", err)
	}
	policy, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("confine the command: %w", err)
	}
	args := []string{"hermes", childArg, string(policy)}
	if cmd.Path != "" {
		args = append(append(args, cmd.Path), cmd.Args...)
	}
	if l.Bubblewrap != "" {
		args = append(wrapArgs(p), append([]string{"--", self}, args[1:]...)...)
		self = l.Bubblewrap
	}
	cmd.Path, cmd.Args = self, args
	return nil
}

// wrapArgs are bubblewrap's arguments. What it hides, Landlock denies anyway;
// but what cannot be seen cannot be asked about, and the sockets of local
// services are under /run.
func wrapArgs(p Policy) []string {
	args := []string{"bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--unshare-ipc"}
	if !p.Network {
		args = append(args, "--unshare-net")
	}
	seen := map[string]bool{}
	for _, dir := range append([]string{"/run", "/var/run"}, p.Hide...) {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || seen[dir] {
			continue
		}
		seen[dir] = true
		args = append(args, "--tmpfs", dir)
	}
	for _, dir := range append(append([]string{}, p.Read...), p.Write...) {
		for hidden := range seen {
			if strings.HasPrefix(dir+"/", hidden+"/") {
				args = append(args, "--bind-try", dir, dir)
				break
			}
		}
	}
	return args
}
