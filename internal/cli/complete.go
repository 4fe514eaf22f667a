package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/slash"
)

// completions finds what the unfinished word at the end of text may become:
// commands and their arguments, otherwise paths.
func (w *window) completions(ctx context.Context, text string) (word string, all []slash.Choice) {
	if _, _, ok := slash.Parse(text + "x"); ok || text == "/" {
		var conv slash.Conversation
		if w.turn == nil { // the history is the turn's while it runs
			conv = w.c
		}
		if conv == nil && strings.ContainsRune(text, ' ') {
			return "", nil
		}
		return w.table.Complete(ctx, conv, text)
	}
	word = text[strings.LastIndexAny(text, " \n\t`\"'(=@")+1:]
	return word, paths(word, w.app.WorkDir, w.app.UserHome)
}

// mostPaths bounds what is read of one directory.
const mostPaths = 5000

// paths lists what a word may be the beginning of. A bare word is completed
// only to names in the working directory.
func paths(word, workDir, home string) []slash.Choice {
	dir, base := "", word
	if i := strings.LastIndexByte(word, '/'); i >= 0 {
		dir, base = word[:i+1], word[i+1:]
	}
	if dir == "" && base == "" {
		return nil
	}
	real := dir
	switch rest, inHome := strings.CutPrefix(dir, "~/"); {
	case inHome:
		real = filepath.Join(home, rest)
	case !filepath.IsAbs(dir):
		real = filepath.Join(workDir, dir)
	}
	f, err := os.Open(real)
	if err != nil {
		return nil // nothing to complete there
	}
	defer func() { _ = f.Close() }() // only read
	entries, _ := f.ReadDir(mostPaths)
	var all []slash.Choice
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || base == "" && strings.HasPrefix(name, ".") || !utf8.ValidString(name) {
			continue
		}
		isDir := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(real, name))
			isDir = err == nil && info.IsDir()
		}
		if isDir {
			name += "/"
		}
		all = append(all, slash.Choice{Text: dir + name})
	}
	slices.SortFunc(all, func(a, b slash.Choice) int { return strings.Compare(a.Text, b.Text) })
	return all
}

// finished is a sole choice: what follows it is another word.
func finished(text string) string {
	if strings.HasSuffix(text, "/") {
		return text
	}
	return text + " "
}

// commonStart is what all choices begin with.
func commonStart(choices []slash.Choice) string {
	common := choices[0].Text
	for _, c := range choices[1:] {
		for !strings.HasPrefix(c.Text, common) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	return common
}
