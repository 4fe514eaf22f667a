//go:build unix

package store

import (
	"os"
	"os/exec"
	"syscall"
)

// asNobody takes root's rights away, which no mode of a file stops.
func asNobody(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}
