// Package process is the tool that looks after the commands which the terminal
// tool started in the background. It starts none itself, and reaches only
// those of its own task and what an earlier run of the program left behind.
package process

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/tool"
)

var (
	//go:embed process.md
	about string
	//go:embed process.json
	schema json.RawMessage
)

func init() {
	tool.Register(tool.Func(tool.Tool{
		Name: "process", Toolset: "terminal", Emoji: "⚙️", About: about, Schema: schema,
		Needs:    []tool.Need{tool.Needs[backend.Provider]()},
		Harmless: onlyLooks,
	}, run))
}

// onlyLooks is true for calls that change nothing about a process.
func onlyLooks(raw json.RawMessage) bool {
	var in args
	if json.Unmarshal(raw, &in) != nil {
		return false
	}
	switch in.Action {
	case "list", "poll", "log", "wait":
		return true
	}
	return false
}

type args struct {
	Action  string `json:"action"`
	Session string `json:"session_id"`
	Data    string `json:"data"`
	Timeout int    `json:"timeout"`
	Offset  int    `json:"offset"`
	Limit   *int   `json:"limit"`
}

// exitKilled is what the original records for a process it ended.
const exitKilled = -15

type result struct {
	SessionID string   `json:"session_id,omitempty"`
	Command   string   `json:"command,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`
	Status    string   `json:"status"`
	PID       int      `json:"pid,omitempty"`
	Started   string   `json:"started_at,omitempty"`
	Uptime    *float64 `json:"uptime_seconds,omitempty"`
	Preview   *string  `json:"output_preview,omitempty"`
	Output    *string  `json:"output,omitempty"`
	Total     *int     `json:"total_lines,omitempty"`
	Showing   string   `json:"showing,omitempty"`
	ExitCode  *int     `json:"exit_code,omitempty"`
	Detached  bool     `json:"detached,omitempty"`
	Written   *int     `json:"bytes_written,omitempty"`
	Message   string   `json:"message,omitempty"`
	Note      string   `json:"note,omitempty"`
	TimeNote  string   `json:"timeout_note,omitempty"`
	Error     string   `json:"error,omitempty"`
}

func run(ctx context.Context, c *tool.Call, in args) (any, error) {
	provider, err := tool.Use[backend.Provider](c.Session.Services)
	if err != nil {
		return nil, err
	}
	host, ok := provider.(backend.Host)
	if !ok {
		return nil, errors.New("background processes are not available in this context")
	}
	jobs, task := host.Jobs(), c.Session.Key()
	if in.Action == "list" {
		return list(jobs, task)
	}
	if in.Session == "" {
		return nil, fmt.Errorf("process %s needs session_id; process list shows what there is", in.Action)
	}
	job, err := jobs.Get(task, in.Session)
	if errors.Is(err, backend.ErrNoJob) {
		return left(ctx, jobs, in)
	}
	if err != nil {
		return nil, err
	}
	switch in.Action {
	case "poll":
		r := describe(job, 1000)
		r.Cwd, r.Started = "", ""
		return r, nil
	case "log":
		return logOf(job, in)
	case "wait":
		return wait(ctx, job, in, host.Settings().Timeout)
	case "kill":
		return kill(ctx, job)
	default:
		return send(job, in)
	}
}

// describe is what list and poll tell of a job. Telling its end once is enough.
func describe(job *backend.Job, preview int) result {
	i := job.Info()
	up := float64(int(i.Uptime.Seconds()*10)) / 10
	text := job.Tail(preview)
	r := result{
		SessionID: i.Session, Command: clip(i.Command, 200), Cwd: i.Cwd, Status: "running", PID: i.PID,
		Started: i.Started.Local().Format("2006-01-02T15:04:05"), Uptime: &up, Preview: &text,
	}
	if !i.Running {
		job.Observe()
		ended(&r, i)
	}
	if i.Keep {
		r.Note = "It is kept running when the program ends."
	}
	return r
}

func ended(r *result, i backend.Info) {
	code := i.Exit.Code
	switch {
	case i.Adopted && !i.Killed:
		r.Note = "It was left by a foreground command; its exit code is not known."
	case i.Killed:
		code = exitKilled
	case i.TooOld:
		code = exitKilled
		r.Note = "It was ended because it had run for too long."
	}
	if i.Exit.Left != 0 {
		r.Note = "The command has ended; something that it started still runs and ends with kill."
	}
	r.Status, r.ExitCode = "exited", &code
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

func list(jobs *backend.Jobs, task string) (any, error) {
	all := []result{}
	for _, job := range jobs.List(task) {
		all = append(all, describe(job, 200))
	}
	records, err := jobs.Left()
	if err != nil {
		return nil, fmt.Errorf("list processes of earlier runs: %w", err)
	}
	for _, r := range records {
		all = append(all, detached(r))
	}
	return map[string]any{"processes": all}, nil
}

// detached describes a process that an earlier run left.
func detached(r backend.Record) result {
	up := float64(int(time.Since(r.Started).Seconds()))
	note := "It was left by an earlier run of the program that did not end as it should."
	if r.Keep {
		note = "It was kept on purpose by an earlier run of the program."
	}
	return result{
		SessionID: r.Session, Command: clip(r.Command, 200), Cwd: r.Cwd, Status: "running", PID: r.ID.PID,
		Started: r.Started.Local().Format("2006-01-02T15:04:05"), Uptime: &up, Detached: true, Note: note,
	}
}

// left does what can be done with a process of an earlier run: it is no child
// of ours, so there is no output but a log, and no input.
func left(ctx context.Context, jobs *backend.Jobs, in args) (any, error) {
	r, err := jobs.FindLeft(in.Session)
	if err != nil {
		reason := fmt.Sprintf("there is no process %s; process list shows what there is", in.Session)
		return nil, tool.Fail(result{Status: "not_found", SessionID: in.Session, Error: reason}, reason) // case 66
	}
	switch in.Action {
	case "poll":
		return detached(r), nil
	case "log":
		text := jobs.LogOf(r)
		out := page(strings.Split(strings.TrimRight(text, "\n"), "\n"), in)
		out.SessionID, out.Status, out.Detached = in.Session, "running", true
		if text == "" {
			out.Note = "Its output is not known to this run of the program."
		}
		return out, nil
	case "kill":
		if err := jobs.EndLeft(ctx, in.Session); err != nil {
			return nil, fmt.Errorf("kill %s: %w", in.Session, err)
		}
		return result{SessionID: in.Session, Status: "killed", Detached: true}, nil
	default:
		return nil, fmt.Errorf("%s belongs to an earlier run of the program: only list, poll, log and kill work on it", in.Session)
	}
}

const defaultLines = 200

func logOf(job *backend.Job, in args) (any, error) {
	text := strings.TrimRight(job.Output(), "\n")
	var lines []string
	if text != "" {
		lines = strings.Split(text, "\n")
	}
	r := page(lines, in)
	i := job.Info()
	r.SessionID, r.Status = i.Session, "running"
	if !i.Running {
		job.Observe()
		ended(&r, i)
	}
	return r, nil
}

func page(lines []string, in args) result {
	limit := defaultLines
	if in.Limit != nil {
		limit = *in.Limit
	}
	from := max(0, len(lines)-limit)
	if in.Offset > 0 {
		from = min(in.Offset, len(lines))
	}
	to := min(len(lines), from+limit)
	total, text := len(lines), strings.Join(lines[from:to], "\n")
	return result{Output: &text, Total: &total, Showing: fmt.Sprintf("%d lines", to-from)}
}

// wait waits for the end of a job, without looking again and again.
func wait(ctx context.Context, job *backend.Job, in args, limit int) (any, error) {
	seconds, note := limit, ""
	switch {
	case in.Timeout > limit: // case 68
		note = fmt.Sprintf("Requested wait of %ds was clamped to the limit of %ds.", in.Timeout, limit)
	case in.Timeout > 0:
		seconds = in.Timeout
	}
	t := time.NewTimer(time.Duration(seconds) * time.Second)
	defer t.Stop()
	r := result{SessionID: job.Session(), TimeNote: note}
	select {
	case <-job.Done():
		job.Observe()
		text := job.Tail(2000)
		r.Output = &text
		ended(&r, job.Info())
		return r, nil
	case <-t.C:
		text := job.Tail(1000)
		r.Status, r.Output = "timeout", &text
		r.TimeNote = strings.TrimSpace(note + fmt.Sprintf(" It still runs after %ds.", seconds))
		return r, nil
	case <-ctx.Done():
		text := job.Tail(1000)
		r.Status, r.Output = "interrupted", &text
		return nil, tool.Fail(r, "interrupted")
	}
}

func kill(ctx context.Context, job *backend.Job) (any, error) {
	was, err := job.Kill(ctx)
	if err != nil {
		return nil, fmt.Errorf("kill %s: %w", job.Session(), err)
	}
	job.Observe()
	i := job.Info()
	code := exitKilled
	r := result{SessionID: i.Session, Status: "killed", ExitCode: &code}
	if !was {
		r.Status = "already_exited"
		code = i.Exit.Code
	}
	return r, nil
}

func send(job *backend.Job, in args) (any, error) {
	var err error
	r := result{SessionID: job.Session(), Status: "ok"}
	switch in.Action {
	case "close":
		err = job.CloseInput()
		r.Message = "its input has ended"
	case "submit":
		data := in.Data + "\n"
		if job.Info().Terminal {
			data = in.Data + "\r" // what the Enter key sends
		}
		var n int
		n, err = job.Send([]byte(data))
		r.Written = &n
	case "write":
		var n int
		n, err = job.Send([]byte(in.Data))
		r.Written = &n
	default:
		return nil, fmt.Errorf("there is no action %q; known are list, poll, log, wait, kill, write, submit and close", in.Action)
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", in.Action, job.Session(), err)
	}
	return r, nil
}
