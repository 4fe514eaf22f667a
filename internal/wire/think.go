package wire

import "strings"

var thinkTags = [...]string{"think", "thinking", "reasoning", "thought", "REASONING_SCRATCHPAD"}

// longestTag is how much of a line's start may have to wait for the rest of a
// tag: "</REASONING_SCRATCHPAD>".
const longestTag = 23

// Scrubber splits reasoning that a model writes between tags off its text. A
// tag opens only at the start of a line and outside fenced code, so that an
// answer which mentions tags keeps them; the closing tag counts anywhere. What
// may be the beginning of a tag is held back until the rest has come.
type Scrubber struct {
	held    string
	open    string // the tag inside which we are
	midLine bool   // text of the current line has been passed on
	line    string // the first bytes of the current line, to see a fence
	fenced  bool
	swallow bool // white space after a closing tag belongs to the tag
}

// Feed takes the next piece and returns what is certain by now.
func (s *Scrubber) Feed(piece string) (text, reasoning string) {
	if s.held == "" && s.open == "" && !s.swallow && s.midLine && !strings.ContainsAny(piece, "\n") {
		if piece != "" {
			s.pass(piece)
		}
		return piece, "" // the usual case: the middle of a line
	}
	return s.run(s.held+piece, false)
}

// Flush returns what was held back.
func (s *Scrubber) Flush() (text, reasoning string) { return s.run(s.held, true) }

func (s *Scrubber) run(in string, last bool) (string, string) {
	s.held = ""
	var text, reasoning strings.Builder
	for in != "" {
		if s.open != "" {
			before, after, found := strings.Cut(in, "</"+s.open+">")
			if found {
				reasoning.WriteString(before)
				in, s.open, s.swallow = after, "", true
				continue
			}
			keep := 0
			if !last {
				keep = overlap(in, "</"+s.open+">")
			}
			reasoning.WriteString(in[:len(in)-keep])
			s.held = in[len(in)-keep:]
			break
		}
		if s.swallow {
			in = strings.TrimLeft(in, " \t\r\n")
			if in == "" {
				break
			}
			s.swallow = false
			s.startLine()
		}
		if !s.midLine {
			tag, rest, wait := s.tag(in, last)
			if wait {
				s.held = in
				break
			}
			if tag != "" {
				in = rest
				if tag[0] == '/' { // its opening tag was in the prompt: nothing to split off any more
					s.swallow = true
					continue
				}
				s.open = tag
				continue
			}
		}
		n := strings.IndexByte(in, '\n') + 1
		if n == 0 {
			n = len(in)
		}
		s.pass(in[:n])
		text.WriteString(in[:n])
		in = in[n:]
	}
	return text.String(), reasoning.String()
}

// tag looks for a tag at the start of a line. wait says that more is needed.
func (s *Scrubber) tag(in string, last bool) (tag, rest string, wait bool) {
	if s.fenced {
		return "", in, false
	}
	body := strings.TrimLeft(in, " \t")
	if body == "" {
		return "", in, !last && len(in) < longestTag
	}
	if body[0] != '<' {
		return "", in, false
	}
	for _, name := range thinkTags {
		for _, slash := range [...]string{"", "/"} {
			full := "<" + slash + name + ">"
			if strings.HasPrefix(body, full) {
				return slash + name, body[len(full):], false
			}
			if !last && strings.HasPrefix(full, body) {
				wait = true
			}
		}
	}
	return "", in, wait
}

// pass keeps track of lines and fences in what is passed on.
func (s *Scrubber) pass(piece string) {
	s.midLine = true
	if len(s.line) < 8 {
		s.line += piece[:min(len(piece), 8-len(s.line))]
	}
	if piece[len(piece)-1] == '\n' {
		if strings.HasPrefix(strings.TrimLeft(s.line, " "), "```") {
			s.fenced = !s.fenced
		}
		s.startLine()
	}
}

func (s *Scrubber) startLine() { s.midLine, s.line = false, "" }

// overlap is the length of the longest end of s that begins tag.
func overlap(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
