//go:build !windows

package files

import (
	"errors"
	"syscall"
)

func processRuns(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
