package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/markdown"
	"github.com/hermes-go/hermes/internal/slash"
)

// liner is the conversation without a terminal's abilities: one line is one
// message. Answers and what commands say go to stdout.
type liner struct {
	*talk
	s      *screen
	keys   <-chan os.Signal
	queue  []string
	failed bool
}

func (t *talk) lines(ctx context.Context) error {
	e := t.e
	l := &liner{talk: t, s: &screen{out: e.out, err: e.err, color: e.colors(), hold: !e.terminal, think: t.think}}
	fmt.Fprintf(e.err, "%s\n", t.banner())
	if !e.pipe() {
		fmt.Fprintln(e.err, "Ctrl+C interrupts, /help lists commands, /quit or Ctrl+D leaves.")
	}
	for _, n := range t.c.Notices {
		l.s.notice(n)
	}
	if t.c.Resumed {
		l.s.notice(fmt.Sprintf("going on with %d messages", len(t.c.History)))
	}
	keys := make(chan os.Signal, 1)
	signal.Notify(keys, os.Interrupt)
	defer signal.Stop(keys)
	l.keys = keys
	e.quit.leaveKeys()
	return l.loop(ctx)
}

func (l *liner) loop(ctx context.Context) error {
	for {
		line, queued, err := l.next(ctx)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, agent.ErrInterrupted) && !l.e.pipe():
			return l.outcome()
		case err != nil:
			return fmt.Errorf("read input: %w", err)
		case line == "":
			continue
		}
		if name, args, ok := slash.Parse(line); ok && !queued {
			if quit := l.command(ctx, name, args); quit {
				return l.outcome()
			}
			continue
		}
		if err := l.turn(ctx, line); err != nil {
			return err
		}
	}
}

// outcome tells a program that fed the lines whether one of them failed.
func (l *liner) outcome() error {
	if l.failed && l.e.pipe() {
		return reported(exitFailed)
	}
	return nil
}

// next is what a command left to answer, or else the next line.
func (l *liner) next(ctx context.Context) (line string, queued bool, err error) {
	if len(l.queue) > 0 {
		line, l.queue = l.queue[0], l.queue[1:]
		return line, true, nil
	}
	prompt := ""
	if !l.e.pipe() {
		prompt = "\n› "
	}
	reading, stop := untilKey(ctx, l.keys)
	defer stop()
	line, err = readLine(reading, l.e, prompt)
	return line, false, err
}

func (l *liner) command(ctx context.Context, name, args string) (quit bool) {
	ctx, stop := untilKey(ctx, l.keys)
	defer stop()
	r, err := l.table.Run(ctx, l.c, name, args)
	if err != nil {
		l.failed = true
		l.s.activity(red, err.Error())
		return false
	}
	for _, line := range markdown.Render(r.Text, markdown.Options{Bare: true}) {
		fmt.Fprintln(l.e.out, line)
	}
	if r.Change {
		for _, n := range l.c.Notices {
			l.s.notice(n)
		}
	}
	if r.Think != nil {
		l.s.think = *r.Think
	}
	if r.Busy != "" {
		l.s.notice("nothing can be typed here while the agent works; the next line waits")
	}
	for _, text := range []string{r.Send, r.Queue, r.Steer} { // no turn runs that could be steered
		if text != "" {
			l.queue = append(l.queue, text)
		}
	}
	return r.Quit
}

// untilKey returns a context that Ctrl+C ends.
func untilKey(parent context.Context, keys <-chan os.Signal) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	over := make(chan struct{})
	go func() {
		select {
		case <-keys:
			cancel(agent.ErrInterrupted)
		case <-over:
		}
	}()
	return ctx, func() {
		close(over)
		cancel(nil)
	}
}

// turn answers one line. Ctrl+C stops the answer; where nobody types it stops
// all of it.
func (l *liner) turn(ctx context.Context, text string) error {
	ctx, stop := untilKey(ctx, l.keys)
	defer stop()
	var last agent.Done
	for ev, err := range l.c.Turn(ctx, text) {
		if err != nil {
			return err
		}
		switch ev := ev.(type) {
		case agent.Asked:
			l.s.endLine()
			ev.Reply(askTerminal(ctx, l.e, ev.Request))
		case agent.Done:
			l.s.done(ev)
			last = ev
			l.failed = l.failed || ev.Status != agent.OK
			if ev.Status == agent.Interrupted && l.e.pipe() {
				return reported(exitInterrupted)
			}
		default:
			l.s.show(ev)
		}
	}
	if len(l.queue) > 0 {
		return nil // what the person says comes first
	}
	next, note, err := l.c.TowardsGoal(ctx, last)
	if note != "" {
		l.s.notice(note)
	}
	if err != nil { // the conversation is worth more than its goal
		l.s.notice("The goal was not followed: " + err.Error())
	}
	if next != "" {
		l.queue = append(l.queue, next)
	}
	return nil
}
