package hostshell

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-go/hermes/backend"
)

func toShell(_, path string) string { return path }

// groupLives: what kill(2) says is all there is to know here.
func groupLives(int) bool { return true }

func waitGone(context.Context, backend.ProcessID, time.Duration) (gone, ok bool) { return false, false }

func awaitGroup(int, time.Duration) {}

// startOf names when a process started; "" when it does not live.
func startOf(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return ""
	}
	const zombie = 5
	if k.Proc.P_stat == zombie {
		return ""
	}
	return fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec)
}
