package hostshell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hermes-go/hermes/backend"
)

// stat is what the kernel says of a process, from the state on:
// state parent group session ...; nil when there is no such process.
func stat(pid string) [][]byte {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	// pid (name) state ...; a name may hold anything.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 || string(f[0]) == "Z" || string(f[0]) == "X" {
		return nil
	}
	return f
}

// boot tells one run of the machine from the next.
var boot = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
})

// startOf names when a process started; "" when it does not live.
func startOf(pid int) string {
	f := stat(strconv.Itoa(pid))
	if f == nil {
		return ""
	}
	return boot() + "/" + string(f[19])
}

// members are the live processes of a group or session.
func members(id int) []int {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	want := []byte(strconv.Itoa(id))
	var all []int
	for _, d := range list {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		if f := stat(d.Name()); f != nil && (bytes.Equal(f[2], want) || bytes.Equal(f[3], want)) {
			all = append(all, pid)
		}
	}
	return all
}

// groupLives reports whether a member of the group or session does more than
// wait for being collected by its parent.
func groupLives(id int) bool { return len(members(id)) > 0 }

// waitGone waits for the end of any process; ok is false where the kernel
// cannot tell.
func waitGone(ctx context.Context, id backend.ProcessID, limit time.Duration) (gone, ok bool) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if err != nil {
		return errors.Is(err, unix.ESRCH), errors.Is(err, unix.ESRCH)
	}
	defer func() { _ = unix.Close(fd) }()
	if !Alive(id) {
		return true, true // the number was another's when it was opened
	}
	if d, has := ctx.Deadline(); has {
		limit = min(limit, time.Until(d))
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(max(limit, 0).Milliseconds()))
	return n > 0, err == nil
}

// awaitGroup waits until a group that was killed is gone.
func awaitGroup(id int, limit time.Duration) {
	end := time.Now().Add(limit)
	for m := members(id); len(m) > 0 && time.Now().Before(end); m = members(id) {
		one := backend.ProcessID{PID: m[0], Start: startOf(m[0])}
		if gone, ok := waitGone(context.Background(), one, time.Until(end)); !gone || !ok {
			return
		}
	}
}

var _ backend.Adopter = (*Shell)(nil)

// adopted is a group without its leader.
type adopted struct {
	id   backend.ProcessID
	g    *group
	done chan struct{}
}

// Adopt implements backend.Adopter.
func (e *Shell) Adopt(id int) (backend.Process, error) {
	m := members(id)
	if len(m) == 0 {
		return nil, fmt.Errorf("nothing of group %d runs", id)
	}
	a := &adopted{id: backend.ProcessID{Kind: e.o.Kind, PID: m[0], Start: startOf(m[0])}, g: &group{id}, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		for m := members(id); len(m) > 0; m = members(id) {
			one := backend.ProcessID{PID: m[0], Start: startOf(m[0])}
			if _, ok := waitGone(context.Background(), one, time.Hour); !ok {
				return
			}
		}
	}()
	return a, nil
}

func (a *adopted) ID() backend.ProcessID     { return a.id }
func (a *adopted) Write([]byte) (int, error) { return 0, errNoInput }
func (a *adopted) CloseInput() error         { return errNoInput }
func (a *adopted) Done() <-chan struct{}     { return a.done }

// Exit is not known: the process is nobody's child any more.
func (a *adopted) Exit() backend.Exit { return backend.Exit{Reason: backend.Exited} }

func (a *adopted) Kill(ctx context.Context) error {
	a.g.signal(unix.SIGTERM)
	for _, limit := range []time.Duration{termGrace, killGrace} {
		select {
		case <-a.done:
			return nil
		case <-time.After(limit):
			a.g.signal(unix.SIGKILL)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("it does not end")
}
