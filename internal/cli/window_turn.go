package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hermes-go/hermes/ask"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/cells"
	"github.com/hermes-go/hermes/internal/cli/tty"
	"github.com/hermes-go/hermes/internal/markdown"
	"github.com/hermes-go/hermes/internal/slash"
)

// running is a turn that is being answered.
type running struct {
	items  chan item
	cancel context.CancelCauseFunc
	since  time.Time
	second *time.Ticker // has the time that is shown go on
	calls  activities

	answer answer
	stream *markdown.Stream
	base   int    // where in the answer's text the stream begins
	plain  string // of the answer's last line, where Markdown is shown raw
	think  string // the last line of the model's thinking
	said   bool
	doing  string
	gave   bool // the person has pressed Ctrl+C

	done    agent.Done
	command bool // it is no turn of the model but a command that takes its time
}

type item struct {
	event agent.Event
	reply *slash.Reply // of a command that took its time
	next  string       // a message to go on with
	err   error
}

// events is nil, which never delivers, when no turn runs.
func (r *running) events() <-chan item {
	if r == nil {
		return nil
	}
	return r.items
}

// seconds tick while a turn runs.
func (r *running) seconds() <-chan time.Time {
	if r == nil {
		return nil
	}
	return r.second.C
}

// mostAlone is how many turns in a row may begin without a message of the person:
// a model that starts a command at the end of each would go on for ever.
const mostAlone = 5

// background begins a turn when something happened that the model asked to be
// told, unless the person is about to say something: then it goes with that.
func (w *window) background(ctx context.Context) {
	if w.turn != nil || w.quits || len(w.queue) > 0 || !w.ed.Empty() || w.alone > mostAlone || !w.wakes || !w.c.BackgroundWaits() {
		return
	}
	if w.alone++; w.alone > mostAlone {
		w.note(fmt.Sprintf("a background command has news again; after %d turns without you it waits for your next message", mostAlone))
		w.dirty = true
		return
	}
	w.note("a background command has news")
	w.begin(ctx, "thinking", func(ctx context.Context, items chan<- item) {
		for ev, err := range w.c.BackgroundTurn(ctx) {
			items <- item{event: ev, err: err}
		}
	})
}

// towardsGoal has a goal judged after a turn, unless the person has said
// something meanwhile: that comes first.
func (w *window) towardsGoal(ctx context.Context, r *running) {
	if r.command || r.done.Status == "" || w.turn != nil || w.quits {
		return
	}
	if g, err := w.c.Goal(ctx); err != nil || g.Status != slash.GoalActive {
		return
	}
	w.begin(ctx, "judging the goal", func(ctx context.Context, items chan<- item) {
		next, note, err := w.c.TowardsGoal(ctx, r.done)
		if err != nil {
			items <- item{err: err}
		}
		if note != "" {
			items <- item{event: agent.Notice{Text: note}}
		}
		if next != "" {
			items <- item{next: next}
		}
	})
	w.turn.command = true
}

// say begins a turn with a message.
func (w *window) say(ctx context.Context, text string) {
	w.alone = 0
	w.showMessage(text)
	w.begin(ctx, "thinking", func(ctx context.Context, items chan<- item) {
		for ev, err := range w.c.Turn(ctx, text) {
			items <- item{event: ev, err: err}
		}
	})
}

// begin has something run that may take its time and can be interrupted.
func (w *window) begin(ctx context.Context, doing string, run func(context.Context, chan<- item)) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &running{items: make(chan item), cancel: cancel, since: time.Now(), second: time.NewTicker(time.Second), calls: activities{emoji: w.emoji}, doing: doing}
	w.turn = r
	w.newStream(0)
	go func() {
		defer close(r.items)
		run(ctx, r.items)
	}()
	w.dirty = true
}

// showMessage leaves the message in the scrollback; a long one only in part.
func (w *window) showMessage(text string) {
	const most, ends = 12, 4
	lines := cells.Lines(cells.Clean(text), w.width()-2)
	if len(lines) > most {
		gap := fmt.Sprintf("… %d more lines", len(lines)-2*ends)
		lines = append(append(append([]string{}, lines[:ends]...), gap), lines[len(lines)-ends:]...)
	}
	for i, line := range lines {
		lead := "› "
		if i > 0 {
			lead = "  "
		}
		lines[i] = w.paint(bold, lead+line)
	}
	w.block += "!" // two messages in a row are two blocks
	w.put("message", lines...)
}

func (w *window) newStream(base int) {
	o := w.look
	o.Width = w.width()
	w.turn.stream, w.turn.base = markdown.NewStream(o), base
}

// event shows what happened in the turn.
func (w *window) event(ctx context.Context, it item, more bool) {
	r := w.turn
	if !more {
		r.second.Stop()
		r.cancel(nil)
		w.turn = nil
		w.closeQuestion()
		w.state = w.c.State()
		w.next(ctx)
		w.towardsGoal(ctx, r)
		w.background(ctx)
		w.dirty = true
		return
	}
	if it.err != nil {
		w.problem(it.err.Error())
		return
	}
	w.dirty = true
	if it.next != "" {
		w.queue = append(w.queue, it.next)
		return
	}
	if it.reply != nil {
		w.replied(*it.reply)
		return
	}
	switch e := it.event.(type) {
	case agent.Text:
		r.doing = "writing"
		w.endThinking()
		w.text(r.answer.add(e.Text))
	case agent.Reasoning:
		r.doing = "thinking"
		w.reasoning(e.Text)
	case agent.ToolStart:
		w.endText()
		r.doing = "working"
		r.calls.start(e)
	case agent.ToolProgress:
		r.calls.progress(e)
	case agent.ToolEnd:
		w.endText()
		w.toolEnd(e)
	case agent.Asked:
		w.ask(e)
	case agent.Notice:
		w.note(e.Text)
	case agent.Retry:
		w.retry(e)
	case agent.Compacted:
		w.note(compacted(e))
	case agent.Done:
		r.done = e
		w.done(e)
	}
}

// text shows a piece of the answer.
func (w *window) text(show string, anew bool) {
	r := w.turn
	if anew {
		w.note("the answer begins anew here")
		w.newStream(len(r.answer.text) - len(show))
		r.plain = ""
	}
	if show == "" {
		return
	}
	r.said = true
	if w.raw {
		r.plain += show
		if i := strings.LastIndexByte(r.plain, '\n'); i >= 0 {
			w.put("answer", strings.Split(cells.Clean(r.plain[:i]), "\n")...)
			r.plain = r.plain[i+1:]
		}
		return
	}
	width := w.width()
	r.stream.Resize(width)
	r.stream.Write(show)
	w.put("answer", r.stream.Take()...)
}

// retry takes text back. What is in the scrollback stays there.
func (w *window) retry(e agent.Retry) {
	r := w.turn
	if e.Void {
		final := r.base + r.stream.Taken()
		if w.raw {
			final = r.answer.shown - len(r.plain)
			r.plain = ""
		}
		r.stream.Void()
		r.answer.void(e.Keep, final)
		r.think = ""
		w.text(r.answer.add(""))
	}
	r.doing = "waiting"
	w.note(retryLine(e))
}

// endText closes the answer so far: a call or the end of the turn follows.
func (w *window) endText() {
	r := w.turn
	w.endThinking()
	if w.raw && r.plain != "" {
		w.put("answer", strings.Split(cells.Clean(r.plain), "\n")...)
		r.plain = ""
	}
	r.stream.Close()
	w.put("answer", r.stream.Take()...)
	if r.answer.end() {
		w.note("the answer ended earlier; the last words above were taken back")
	}
	w.newStream(0)
}

// reasoning shows the model's thinking line by line, to who wants it.
func (w *window) reasoning(text string) {
	if !w.think {
		return
	}
	r := w.turn
	r.think += text
	if i := strings.LastIndexByte(r.think, '\n'); i >= 0 {
		w.wrapped("thinking", dim, r.think[:i])
		r.think = r.think[i+1:]
	}
}

func (w *window) endThinking() {
	if r := w.turn; strings.TrimSpace(r.think) != "" {
		w.wrapped("thinking", dim, r.think)
		r.think = ""
	}
}

func (w *window) toolEnd(e agent.ToolEnd) {
	r := w.turn
	c := r.calls.end(e)
	level := w.app.Config.String("display.tool_progress")
	again := r.calls.last == c.name
	r.calls.last = c.name
	r.doing = "thinking"
	if e.Err == nil && (level == "off" || level == "new" && again) {
		return
	}
	line := r.calls.line(c, e.Took, w.width())
	if e.Err != nil {
		w.put("tool", w.paint(red, line))
		for _, l := range cells.Lines(cells.Clean(oneLine(e.Err.Error(), 300)), w.width()-4) {
			w.put("tool", w.paint(red, "┊   "+l))
		}
		return
	}
	w.put("tool", w.paint(dim, line))
	if level == "verbose" {
		for _, l := range []string{"→ " + string(c.args), "← " + string(e.Result)} {
			w.put("tool", w.paint(dim, "┊   "+cells.Cut(oneLine(cells.Clean(l), 2000), w.width()-4)))
		}
	}
	if w.flag("display.inline_diffs") {
		w.put("tool", diffLines(e.Result, w.e.colors())...)
	}
}

func (w *window) done(d agent.Done) {
	r := w.turn
	w.endText()
	if d.Text != "" && d.Status != agent.Interrupted && !r.said {
		w.text(d.Text, false)
		r.stream.Close()
		w.put("answer", r.stream.Take()...)
	}
	switch {
	case d.Status == agent.Interrupted:
		w.problem("interrupted")
	case d.Err != nil:
		w.problem(fmt.Sprintf("%s: %v", d.Status, d.Err))
	}
	if w.flag("display.bell_on_complete") {
		fmt.Fprint(w.e.out, "\a")
	}
}

// turnLines are the region's lines above the input: what is not finished yet.
func (w *window) turnLines(width, room int) []string {
	r := w.turn
	if r == nil {
		return nil
	}
	var tail []string
	for _, c := range r.calls.running[max(len(r.calls.running)-3, 0):] {
		tail = append(tail, w.paint(dim, r.calls.line(c, time.Since(c.since).Truncate(time.Second), width)))
		if c.progress != "" {
			tail = append(tail, w.paint(dim, cells.Cut("┊   "+cells.Clean(c.progress), width)))
		}
	}
	if w.asked == nil {
		tail = append(tail, w.paint(dim, fmt.Sprintf("%s %s · Ctrl+C interrupts", r.doing, duration(time.Since(r.since).Truncate(time.Second)))))
	}
	for _, q := range w.queue[max(len(w.queue)-3, 0):] {
		tail = append(tail, w.paint(dim, cells.Cut("queued: "+oneLine(cells.Clean(q), 500), width)))
	}
	tail = tail[max(len(tail)-room, 0):]
	var open []string
	if w.raw {
		open = cells.Lines(cells.Clean(r.plain), width)
		if r.plain == "" {
			open = nil
		}
	} else {
		r.stream.Resize(width)
		open = r.stream.Open(room)
	}
	if len(open) > 0 && w.block != "answer" && w.block != "" {
		open = append([]string{""}, open...)
	}
	if len(open) == 0 && len(tail) > 0 && len(tail) < room {
		open = []string{""}
	} else if len(open) > 0 && len(tail) > 0 {
		open = append(open, "")
	}
	if most := room - len(tail); len(open) > most {
		open = open[len(open)-max(most, 0):]
	}
	return append(open, tail...)
}

// question is a request that waits for its answer.
type question struct {
	agent.Asked
	line  tty.Editor // what the person was writing meanwhile
	timer *time.Timer
}

func (q *question) late() <-chan time.Time {
	if q == nil || q.timer == nil {
		return nil
	}
	return q.timer.C
}

// ask puts a question where the input line was; what was being written there
// is kept for later.
func (w *window) ask(e agent.Asked) {
	if w.asked != nil { // one at a time; an older one has run out of time
		w.closeQuestion()
	}
	for _, line := range questionLines(e.Request) {
		code := ""
		if e.Request.Kind == ask.Approval {
			code = bold
		}
		for _, l := range cells.Lines(line, w.width()) {
			w.put("question", w.paint(code, l))
		}
	}
	q := &question{Asked: e, line: w.ed}
	if w.c.AskTimeout > 0 {
		q.timer = time.NewTimer(w.c.AskTimeout)
	}
	w.asked, w.menu = q, nil
	w.ed = tty.Editor{Hidden: e.Request.Kind == ask.Secret}
}

func (w *window) closeQuestion() {
	if w.asked == nil {
		return
	}
	if w.asked.timer != nil {
		w.asked.timer.Stop()
	}
	w.ed, w.asked = w.asked.line, nil
	w.dirty = true
}

// reply answers the open question.
func (w *window) reply(a ask.Answer, shown string) {
	if w.asked.Request.Kind != ask.Secret {
		w.put("question", w.paint(dim, "› "+cells.Cut(oneLine(cells.Clean(shown), 500), w.width()-2)))
	}
	w.asked.Reply(a)
	w.closeQuestion()
}

// interrupt is Ctrl+C: it turns away what is in the foreground.
func (w *window) interrupt() {
	now := time.Now()
	switch {
	case w.asked != nil:
		w.reply(noAnswer(w.asked.Request), "no answer")
	case w.turn != nil && w.turn.gave && now.Sub(w.stopped) < twice:
		w.force()
	case w.turn != nil:
		w.stopped, w.turn.gave, w.turn.doing = now, true, "stopping"
		w.turn.cancel(agent.ErrInterrupted)
	case !w.ed.Empty():
		w.ed.Reset()
		w.menu = nil
	default:
		w.quits = true
	}
	w.dirty = true
}

// force ends the program though a turn does not stop: what it started is
// ended, as far as that takes no longer than a moment.
func (w *window) force() {
	_ = w.live.Leave(append(w.above, w.paint(red, "stopped by force"))) // there is nobody left to tell
	w.tty.Cooked()
	closed := make(chan struct{})
	go func() {
		_ = w.app.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(twice):
	}
	os.Exit(exitInterrupted)
}
