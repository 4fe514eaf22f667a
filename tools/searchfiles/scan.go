package searchfiles

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/internal/edit"
	"github.com/hermes-go/hermes/internal/files"
)

const (
	maxFile    = 64 << 20 // larger files are named, not searched
	keptBuf    = 8 << 20  // a buffer that grew beyond is not kept
	maxContent = 500      // characters of a line that are shown
)

// scanner searches files one after the other; it belongs to one goroutine.
type scanner struct {
	*searcher
	p    *pattern
	auto *automaton // nil when plain text is looked for
	buf  []byte
}

func (s *searcher) scanner(p *pattern) (*scanner, error) {
	sc := &scanner{searcher: s, p: p, buf: make([]byte, 64<<10)}
	if p.literal == "" {
		var err error
		if sc.auto, err = newAutomaton(p); err != nil {
			return nil, err
		}
	}
	return sc, nil
}

// found is what one file holds.
type found struct {
	rel     string
	matches []match
	count   int  // of matching lines, at most what was needed
	masked  bool // something in it was hidden
}

// file searches one file for as many matching lines as are still needed.
func (s *scanner) file(ctx context.Context, rel string) (found, error) {
	f := found{rel: rel}
	if s.IsDatabase(s.Join(s.root.Real, rel)) {
		return f, nil
	}
	data, err := s.load(ctx, rel)
	if err != nil || data == nil {
		return f, err
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		if t, err := edit.Decode(data, "utf-16"); err == nil {
			data = []byte(t.Content)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if lit := s.p.anchor(); lit != "" && !bytes.Contains(data, []byte(lit)) || bytes.IndexByte(data, 0) >= 0 {
		return f, nil // nothing in it, or binary
	}
	if bytes.Contains(data, []byte("\r\n")) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	if from, _ := s.next(data, 0); from < 0 || s.private(ctx, rel) {
		return f, nil
	}
	if s.in.Mode == "files_only" {
		f.count = 1
		return f, nil
	}
	s.rows(data, &f)
	return f, nil
}

func (s *scanner) private(ctx context.Context, rel string) bool {
	abs := s.Join(s.root.Real, rel)
	return s.MayRead(files.Path{Given: abs, Abs: abs, Real: abs}) != nil
}

// load reads a file into the scanner's buffer; nil for what cannot be searched.
func (s *scanner) load(ctx context.Context, rel string) ([]byte, error) {
	f, err := s.FS.Open(ctx, s.Join(s.root.Real, rel))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // else: gone meanwhile
			s.tree.unreadable.Add(1)
		}
		return nil, ctx.Err()
	}
	// A read that waits for something ends with the search.
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer func() {
		if stop() {
			_ = f.Close() // opened for reading
		}
	}()
	if rel != "" { // a file that was named itself is read whatever it is
		if info, err := f.Stat(); err == nil && (info.Size() == 0 || !info.Mode().IsRegular()) {
			return nil, ctx.Err() // empty, or made up by the kernel: those say so, and may wait for ever
		}
	}
	if len(s.buf) > keptBuf {
		s.buf = make([]byte, 64<<10)
	}
	n := 0
	for {
		m, err := f.Read(s.buf[n:])
		n += m
		switch {
		case errors.Is(err, io.EOF):
			return s.buf[:n], nil
		case err != nil:
			s.tree.unreadable.Add(1)
			return nil, ctx.Err()
		case n == len(s.buf):
			size := int64(2 * n)
			if info, err := f.Stat(); err == nil {
				size = max(size, info.Size()+1)
			}
			if size > maxFile {
				s.tree.large.Add(1)
				return nil, ctx.Err()
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s.buf = append(make([]byte, 0, size), s.buf...)[:size]
		}
	}
}

// next finds the first matching line from a position on that begins a line.
func (s *scanner) next(data []byte, at int) (from, to int) {
	lit := s.p.anchor()
	// Short text that only must be there is found everywhere: the automaton is
	// faster than going from one such place to the next.
	for s.auto == nil || len(lit) >= 3 {
		n := bytes.Index(data[at:], []byte(lit))
		if n < 0 {
			return -1, -1
		}
		from = 1 + bytes.LastIndexByte(data[:at+n], '\n')
		to = lineEnd(data, at+n)
		if s.auto == nil {
			return from, to
		}
		if f, _ := s.auto.find(data[:to], from); f >= 0 {
			return from, to
		}
		if at = to + 1; at > len(data) {
			return -1, -1
		}
	}
	return s.auto.find(data, at)
}

// hit is a matching line.
type hit struct{ line, from, to int }

// rows gathers the matching lines, as many as are needed.
func (s *scanner) rows(data []byte, f *found) {
	var hits []hit
	line, counted := 1, 0 // the number of the line that begins at counted
	for at := 0; at < len(data); {
		from, to := s.next(data, at)
		if from < 0 {
			break
		}
		f.count++
		at = to + 1
		if s.in.Mode != "content" {
			continue
		}
		line += bytes.Count(data[counted:from], []byte{'\n'})
		counted = from
		if hits = append(hits, hit{line, from, to}); len(hits) == s.need {
			break
		}
	}
	key := bytes.Contains(data, []byte("PRIVATE KEY-----"))
	last := 0 // the last line shown
	for i, h := range hits {
		for _, c := range linesBefore(data, h, min(s.in.Context, h.line-last-1)) {
			f.matches = append(f.matches, s.row(f, data, c, key, false))
		}
		f.matches = append(f.matches, s.row(f, data, h, key, true))
		n := s.in.Context
		if i+1 < len(hits) {
			n = min(n, hits[i+1].line-h.line-1)
		}
		last = h.line
		for _, c := range linesAfter(data, h, n) {
			f.matches = append(f.matches, s.row(f, data, c, key, false))
			last = c.line
		}
	}
}

func linesBefore(data []byte, h hit, n int) []hit {
	var out []hit
	for ; n > 0 && h.from > 0; n-- {
		h = hit{h.line - 1, 1 + bytes.LastIndexByte(data[:h.from-1], '\n'), h.from - 1}
		out = append(out, h)
	}
	slices.Reverse(out)
	return out
}

func linesAfter(data []byte, h hit, n int) []hit {
	var out []hit
	for ; n > 0 && h.to+1 < len(data); n-- {
		h = hit{h.line + 1, h.to + 1, lineEnd(data, h.to+1)}
		out = append(out, h)
	}
	return out
}

// row renders one line.
func (s *scanner) row(f *found, data []byte, h hit, key, matches bool) match {
	text := string(data[h.from:h.to])
	if len(text) > maxContent {
		text = s.shorten(text, matches)
	}
	if key && s.Redacts() {
		one := []string{text}
		if files.MaskKeys(string(data[:h.from]), one) {
			text, f.masked = one[0], true
		}
	}
	text, masked := s.Redact(text)
	f.masked = f.masked || masked
	return match{Path: s.shown(f.rel), Line: h.line, Content: strings.ToValidUTF8(text, "\uFFFD"), Context: !matches}
}

// shorten cuts a long line, so that the match stays in what is shown.
func (s *scanner) shorten(text string, matches bool) string {
	if utf8.RuneCountInString(text) <= maxContent {
		return text
	}
	start := 0
	if matches {
		if at := s.p.re.FindStringIndex(text); at != nil && at[1] > maxContent {
			start = max(0, at[0]-maxContent/4)
		}
	}
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	out := text[start:]
	n := 0
	for i := range out {
		if n == maxContent {
			out = out[:i] + "..."
			break
		}
		n++
	}
	if start > 0 {
		out = "..." + out
	}
	return out
}
