package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/cells"
)

// screen shows the events of a turn line by line: the answer on out, activity
// on err. It needs no terminal.
type screen struct {
	out, err io.Writer
	color    bool
	quiet    bool // no activity
	hold     bool // out gets whole answers only: nobody watches them come
	think    bool // show the model's thinking

	calls   activities
	answer  answer
	midLine bool // the answer's last character was no line break
	said    bool // something of the answer was shown
}

const (
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	bold  = "\x1b[1m"
	reset = "\x1b[0m"
)

func paint(color bool, code, text string) string {
	if !color || text == "" {
		return text
	}
	return code + text + reset
}

func (s *screen) paint(code, text string) string { return paint(s.color, code, text) }

// activity prints a line beside the answer.
func (s *screen) activity(code, text string) {
	if s.quiet {
		return
	}
	s.endLine()
	fmt.Fprintln(s.err, s.paint(code, cells.Clean(text)))
}

func (s *screen) endLine() {
	if s.midLine {
		fmt.Fprintln(s.out)
		s.midLine = false
	}
}

func (s *screen) notice(text string) { s.activity(dim, "· "+text) }

func (s *screen) show(e agent.Event) {
	switch e := e.(type) {
	case agent.Text:
		s.text(e.Text)
	case agent.Reasoning:
		if s.think && !s.quiet {
			s.endLine()
			fmt.Fprint(s.err, s.paint(dim, cells.Clean(e.Text)))
		}
	case agent.ToolStart:
		s.endText()
		s.calls.start(e)
		s.activity(dim, "┊ "+callLine(e.Name, e.Args))
	case agent.ToolProgress:
		s.activity(dim, "┊   "+oneLine(e.Update.Text, 100))
	case agent.ToolEnd:
		s.endText()
		if e.Err != nil {
			s.activity(red, "┊   failed: "+oneLine(e.Err.Error(), 200))
		}
	case agent.Notice:
		s.notice(e.Text)
	case agent.Retry:
		s.retry(e)
	case agent.Compacted:
		s.notice(compacted(e))
	}
}

func (s *screen) text(piece string) {
	if s.out == io.Discard {
		return
	}
	show, anew := s.answer.add(piece)
	if s.hold {
		return
	}
	if anew {
		s.notice("the answer begins anew here")
	}
	s.put(show)
}

func (s *screen) put(text string) {
	if text = cells.Clean(text); text != "" {
		fmt.Fprint(s.out, text)
		s.midLine, s.said = !strings.HasSuffix(text, "\n"), true
	}
}

func (s *screen) retry(e agent.Retry) {
	if e.Void {
		final := s.answer.shown
		if s.hold {
			final = 0
		}
		s.answer.void(e.Keep, final)
	}
	s.notice(retryLine(e))
}

// endText closes what was said before a call: where answers are held back it
// is activity.
func (s *screen) endText() {
	if s.hold {
		if text := strings.TrimSpace(string(s.answer.text)); text != "" {
			s.activity("", text)
		}
	}
	if s.answer.end() && !s.hold {
		s.notice("the answer ended earlier; the last words above were taken back")
	}
	s.endLine()
}

// done shows how the turn ended, and the answer if nobody has seen it.
func (s *screen) done(d agent.Done) {
	answered := d.Text != "" && d.Status != agent.Interrupted
	if s.hold {
		s.answer = answer{}
		if answered {
			s.put(d.Text)
		}
	} else {
		if s.answer.end() {
			s.notice("the answer ended earlier; the last words above were taken back")
		}
		if answered && !s.said {
			s.put(d.Text)
		}
	}
	s.endLine()
	s.said = false
	if d.Err != nil {
		s.activity(red, fmt.Sprintf("%s: %v", d.Status, d.Err))
	}
}

func retryLine(e agent.Retry) string {
	text := "trying again"
	if e.After != "" {
		text += " in " + e.After
	}
	return text + ": " + oneLine(e.Reason, 200)
}

func compacted(e agent.Compacted) string {
	return fmt.Sprintf("the conversation was shortened from %d to %d messages", e.Before, e.After)
}
