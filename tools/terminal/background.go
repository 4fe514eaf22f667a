package terminal

import (
	"context"
	"fmt"
	"slices"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/shell"
)

// background starts the command as a job of the task.
func (w *work) background(ctx context.Context) (any, error) {
	if w.host == nil {
		return nil, refuse("error", "background commands are not available in this context")
	}
	r := result{Output: "Background process started", Approval: w.approval}
	o := backend.JobOptions{Task: w.Session.Key(), PTY: w.PTY, Notify: w.Notify, Watch: w.Watch, Keep: keeps(w.list)}
	if o.PTY && readsToken(w.list) {
		o.PTY = false
		r.PTYNote = "pty was switched off: gh auth login --with-token reads until the end of its input, which a terminal does not have. Send the token with process write, then process close."
	}
	if o.PTY && o.Keep {
		o.PTY = false
		r.PTYNote = "pty was switched off: a command that is to outlive the program has no terminal."
	}
	if o.Keep {
		w.notes = append(w.notes, "nohup, setsid or disown say that it is to outlive the program: it is not ended at exit, takes no input and is listed at the next start.")
	}
	if len(o.Watch) > 0 && (o.Notify || o.Keep) { // case 65
		r.WatchIgnored = "watch_patterns are ignored together with notify_on_complete: you are told when it has ended."
		if o.Keep && !o.Notify {
			r.WatchIgnored = "watch_patterns are ignored for a command that is to outlive the program."
		}
		o.Watch = nil
	}
	script, vars, done, err := w.sudo(ctx)
	if err != nil {
		return nil, err
	}
	job, err := w.host.Jobs().Start(ctx, w.env, backend.Cmd{Script: script, Dir: w.Workdir, Env: vars}, o)
	if err != nil {
		done()
		return nil, refuse("error", err.Error()+". Nothing was run.")
	}
	go func() { // ends with the job
		<-job.Done()
		done()
	}()
	info := job.Info()
	r.SessionID, r.PID, r.Notify, r.Watch = info.Session, info.PID, o.Notify, o.Watch
	r.Note = joined(w.notes)
	return r, nil
}

// keeps reports whether the command itself says that it is to be left running.
func keeps(list []shell.Command) bool {
	for _, c := range list {
		for _, name := range append(slices.Clone(c.Wrappers), c.Name) {
			if name == "nohup" || name == "setsid" || name == "disown" {
				return true
			}
		}
	}
	return false
}

// readsToken knows a program that needs the end of its input.
func readsToken(list []shell.Command) bool {
	return slices.ContainsFunc(list, func(c shell.Command) bool {
		return c.Name == "gh" && at(c.Args, 0) == "auth" && at(c.Args, 1) == "login" && slices.Contains(c.Args, "--with-token")
	})
}

// adopt makes a job of what a foreground command left running, so that it is
// listed, can be ended, and ends with the program.
func (w *work) adopt(group int) string {
	if w.host != nil {
		if job, err := w.host.Jobs().Adopt(w.env, group, w.Command, w.Session.Key()); err == nil {
			return fmt.Sprintf("A process that the command started still runs, as %s: see the process tool.", job.Session())
		}
	}
	return fmt.Sprintf("A process that the command started still runs (process group %d); end it with kill -- -%d when it is not needed.", group, group)
}
