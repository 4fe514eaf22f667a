package terminal

import (
	"strings"
	"time"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/tool"
)

// output receives what a foreground command prints: cleaned, freed of secrets,
// head and tail kept, the whole in a file when it is long.
type output struct {
	w      *work
	screen *backend.Screen
	masker *backend.Masker
	keep   *backend.Keep
	told   time.Time
}

// progressEvery keeps a chatty command from flooding whoever watches.
const progressEvery = 200 * time.Millisecond

func (w *work) newOutput() *output {
	o := &output{w: w, keep: &backend.Keep{Limit: w.set.MaxChars}, told: time.Now()}
	if s, ok := w.env.(backend.Spiller); ok {
		o.keep.File = func() (backend.SpillFile, error) { return s.Spill(w.ID) }
	}
	o.masker = &backend.Masker{To: o.keep, Mask: w.mask}
	o.screen = backend.NewScreen(o.masker)
	return o
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.screen.Write(p)
	if o.w.Report != nil && time.Since(o.told) >= progressEvery {
		o.told = time.Now()
		if line := lastLine(o.screen.Pending()); line != "" {
			o.w.Progress(tool.Update{Text: o.w.mask(line)})
		}
	}
	return n, err
}

// close returns what is shown, and the name of the file with the whole.
func (o *output) close() (text, file string, err error) {
	if err = o.screen.Close(); err == nil {
		err = o.masker.Close()
	}
	file, fileErr := o.keep.Close()
	if err == nil {
		err = fileErr
	}
	return strings.TrimRight(o.keep.Text(), " \t\r\n"), file, err
}

func lastLine(s string) string {
	s = strings.TrimRight(s, " \t\n")
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}
