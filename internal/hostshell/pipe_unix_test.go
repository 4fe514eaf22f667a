//go:build !windows

package hostshell

import "syscall"

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }
