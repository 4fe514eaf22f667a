package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/hermes-go/hermes/internal/hostshell"
	"github.com/hermes-go/hermes/secret"
)

// Look asks the kernel, and tries bubblewrap, which many systems forbid to use.
func Look() Level {
	var l Level
	if v, err := ll.LandlockGetABIVersion(); err == nil {
		l.Landlock = v
	}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		l.NoWrap = "not installed"
		return l
	}
	out, err := exec.Command(path, append(wrapArgs(Policy{})[1:], "--", "/bin/true")...).CombinedOutput()
	if err != nil {
		l.NoWrap = "it does not work here: " + strings.TrimSpace(string(out)+" "+err.Error())
		return l
	}
	l.Bubblewrap = path
	return l
}

// child confines this process and becomes the program, or serves files.
func child(p Policy, argv []string) error {
	runtime.LockOSThread()
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := restrict(p); err != nil {
		return err
	}
	if len(argv) == 0 {
		return serve(os.Stdin, os.Stdout, hostshell.Files{})
	}
	if !p.Network {
		if err := noSockets(); err != nil {
			return err
		}
	}
	if len(argv) == 1 {
		return errors.New("the program's arguments are missing")
	}
	if err := unix.Exec(argv[0], argv[1:], secret.Environ()); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	return nil
}

// configs are what each version of the interface can hold. Later ones add
// nothing that is wanted: UDP is the filter's matter.
var configs = func() []*landlock.Config {
	return []*landlock.Config{
		nil, &landlock.V1, &landlock.V2, &landlock.V3, &landlock.V4, &landlock.V5, &landlock.V6, &landlock.V7, &landlock.V8, &landlock.V9,
	}
}

const (
	readFile  = ll.AccessFSExecute | ll.AccessFSReadFile
	readDir   = readFile | ll.AccessFSReadDir
	writeFile = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	// No devices are made, and nobody outside is talked to.
	writeDir = writeFile | readDir | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
)

// restrict applies Landlock in full for the kernel's version: what it cannot
// do is known before (Level), never found out by falling back.
func restrict(p Policy) error {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil || abi < 1 {
		return Level{}.Err()
	}
	all := configs()
	c := all[min(abi, len(all)-1)]
	have := c.HandledAccessFS
	var rules []landlock.Rule
	add := func(names []string, file, dir landlock.AccessFSSet) error {
		for _, name := range names {
			info, err := os.Stat(name)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
				continue // what is not there needs no rule
			}
			if err != nil {
				return err
			}
			access := file
			if info.IsDir() {
				access = dir
			}
			rules = append(rules, landlock.PathAccess(access&have, name).IgnoreIfMissing())
		}
		return nil
	}
	terminals := []string{"/dev/tty", "/dev/ptmx", "/dev/pts"}
	err = errors.Join(
		add(p.Read, readFile, readDir),
		add(p.Write, writeFile, writeDir),
		add([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}, writeFile&^ll.AccessFSExecute, 0),
		add([]string{"/dev/shm"}, writeFile, writeDir),
		add(terminals, writeFile|ll.AccessFSIoctlDev, writeFile|ll.AccessFSReadDir|ll.AccessFSIoctlDev),
	)
	if err != nil {
		return fmt.Errorf("confine: %w", err)
	}
	if err := c.RestrictPaths(rules...); err != nil {
		return fmt.Errorf("confine files: %w", err)
	}
	if abi >= 6 {
		if err := c.RestrictScoped(); err != nil {
			return fmt.Errorf("confine signals: %w", err)
		}
	}
	return nil
}

// kept are what an administrator's ordinary commands need: files of several
// users. Everything that reaches past files goes.
var kept = func() map[int]bool {
	m := map[int]bool{}
	for _, c := range []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID} {
		m[c] = true
	}
	return m
}

// dropCapabilities takes from root what no file rule holds back: modules,
// raw devices, mounts, the clock.
func dropCapabilities() error {
	if os.Geteuid() != 0 {
		return nil
	}
	keep := kept()
	for c := range unix.CAP_LAST_CAP + 1 {
		if keep[c] {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	for i := range data {
		var mask uint32
		for c := range keep {
			if c/32 == i {
				mask |= 1 << (c % 32)
			}
		}
		data[i].Effective &= mask
		data[i].Permitted &= mask
		data[i].Inheritable = 0
	}
	if err := unix.Capset(&head, &data[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// noSockets makes every new socket fail, of whatever family: also those of
// local services, by which a program could be run outside. Pairs of sockets
// reach nobody and stay. io_uring would open sockets past the filter.
func noSockets() error {
	arch, ok := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("the network cannot be switched off on %s: set terminal.sandbox_network true", runtime.GOARCH)
	}
	const x32 = 0x40000000 // the other numbers of amd64
	stmt := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	jump := func(code uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
	}
	const (
		load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		eq   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		ge   = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret  = unix.BPF_RET | unix.BPF_K
	)
	filter := []unix.SockFilter{
		stmt(load, 4), // the architecture
		jump(eq, arch, 1, 0),
		stmt(ret, unix.SECCOMP_RET_KILL_PROCESS),
		stmt(load, 0), // the number of the call
		jump(ge, x32, 2, 0),
		jump(eq, unix.SYS_SOCKET, 2, 0),
		jump(eq, unix.SYS_IO_URING_SETUP, 2, 3),
		stmt(ret, unix.SECCOMP_RET_KILL_PROCESS),
		stmt(ret, unix.SECCOMP_RET_ERRNO|uint32(unix.EACCES)),
		stmt(ret, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)),
		stmt(ret, unix.SECCOMP_RET_ALLOW),
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("switch the network off: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("switch the network off: %w", err)
	}
	return nil
}
