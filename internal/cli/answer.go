package cli

import "bytes"

// answer follows the text of a turn since the last tool call. A request that
// is sent again takes text back; what was shown of it stays on the screen, and
// is not shown a second time when it comes again.
type answer struct {
	text  []byte
	shown int    // bytes of text that were given out
	old   []byte // what was shown of a text that was taken back, while the new one goes the same way
}

// add takes a piece and returns what to show. Anew: it does not go on from
// what was shown before, but takes its place from the start of a line on.
func (a *answer) add(piece string) (show string, anew bool) {
	a.text = append(a.text, piece...)
	if a.old != nil {
		same := 0
		for same < min(len(a.old), len(a.text)) && a.old[same] == a.text[same] {
			same++
		}
		switch same {
		case len(a.old):
			a.shown = same
		case len(a.text):
			return "", false
		default:
			a.shown, anew = bytes.LastIndexByte(a.text[:same], '\n')+1, true
		}
		a.old = nil
	}
	show = string(a.text[a.shown:])
	a.shown = len(a.text)
	return show, anew
}

// void takes the text back but for its first keep bytes. Of what was given
// out, the first final bytes cannot be taken off the screen.
func (a *answer) void(keep, final int) {
	keep = min(keep, len(a.text))
	if a.old == nil && final > keep {
		a.old = bytes.Clone(a.text[:final])
	}
	a.text, a.shown = a.text[:keep], min(final, keep)
}

// end forgets the text and says whether more of it is on the screen than it
// came to.
func (a *answer) end() (withdrawn bool) {
	withdrawn = len(a.old) > len(a.text)
	*a = answer{}
	return withdrawn
}
