package readfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hermes-go/hermes/backend"
	"github.com/hermes-go/hermes/internal/edit"
	"github.com/hermes-go/hermes/internal/files"
)

const (
	wholeSize = 16 << 20 // up to here a file is read and decoded as a whole
	sniffSize = 64 << 10
	bigFile   = 512_000 // from here on narrow reads are advised
)

// page is the part of a text that was asked for.
type page struct {
	text   edit.Text
	lines  []string // without their ends
	before string   // what stands above, as far as it was kept
	total  int
	print  files.Print
	ends   string
}

func (r *request) read(ctx context.Context, f backend.File, info fs.FileInfo) (any, error) {
	base := result{FileSize: info.Size()}
	head := make([]byte, sniffSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, r.cannotOpen(ctx, err)
	}
	head = head[:n]
	if res, ok := r.image(base, head); ok {
		return res, nil
	}
	if r.encoding == "" {
		r.encoding = r.State.Encoding(r.path.Real)
	}
	_, err = edit.DecodePrefix(head, r.encoding)
	if err == nil && r.encoding == "" && r.suspect(head) {
		err = edit.ErrBinary
	}
	if err != nil {
		return nil, r.undecodable(base, err)
	}
	rest := io.MultiReader(bytes.NewReader(head), f)
	var pg *page
	if info.Size() <= wholeSize {
		pg, err = r.whole(ctx, rest, f, info.Size())
	} else {
		pg, err = r.stream(ctx, rest, head)
	}
	if err != nil {
		return nil, r.undecodable(base, err)
	}
	if answer, err := r.repeated(pg.print); answer != nil || err != nil {
		return answer, err
	}
	res, err := r.show(base, pg)
	if err != nil {
		r.State.Unknown(r.region())
	}
	return res, err
}

// undecodable explains why there is no text.
func (r *request) undecodable(res result, err error) error {
	var enc *edit.EncodingError
	switch {
	case errors.Is(err, edit.ErrBinary):
		res.IsBinary = true
		return fail(res, "%s is a binary file, not text: look at it with a program of its kind in the terminal (file, strings, xxd, unzip -l, pdftotext ...), or name its encoding if it is text", r.path.Given)
	case errors.As(err, &enc):
		res.IsBinary = enc.Encoding == ""
		return fail(res, "%s: %v", r.path.Given, err)
	}
	return fail(res, "read %s: %v", r.path.Given, err)
}

// suspect tells of files whose name says that they are binary: they count as
// text only when nothing about their bytes had to be guessed.
func (r *request) suspect(head []byte) bool {
	if !strings.Contains(binaryKinds, " "+strings.ToLower(filepath.Ext(r.path.Real))+" ") {
		return false
	}
	t, err := edit.DecodePrefix(head, "")
	return err != nil || t.Guessed
}

const binaryKinds = " .png .jpg .jpeg .gif .bmp .ico .webp .tiff .tif .mp4 .mov .avi .mkv .webm .wmv .flv .m4v .mpeg .mpg" +
	" .mp3 .wav .ogg .flac .aac .m4a .wma .aiff .opus .zip .tar .gz .bz2 .7z .rar .xz .z .tgz .iso" +
	" .exe .dll .so .dylib .bin .o .a .obj .lib .app .msi .deb .rpm .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp" +
	" .ttf .otf .woff .woff2 .eot .pyc .pyo .class .jar .war .ear .node .wasm .rlib .sqlite .sqlite3 .db .mdb .idx" +
	" .psd .ai .eps .sketch .fig .xd .blend .3ds .max .swf .fla .lockb .dat .data .pdf "

// whole reads the file at once.
func (r *request) whole(ctx context.Context, src io.Reader, f backend.File, size int64) (*page, error) {
	data, err := files.ReadAll(ctx, readerFile{f, src}, size, 0)
	if err != nil {
		return nil, err
	}
	pg := &page{print: files.PrintOf(data)}
	if pg.text, err = edit.Decode(data, r.encoding); err != nil {
		return nil, err
	}
	text := pg.text.Content
	end, name := "\n", ""
	switch lf := strings.Count(text, "\n"); {
	case lf == 0 && strings.Contains(text, "\r"):
		end, name = "\r", "cr"
	case lf > 0:
		if crlf := strings.Count(text, "\r\n"); crlf == lf {
			name = "crlf"
		} else if crlf > 0 {
			name = "mixed"
		}
	}
	pg.ends = name
	pg.total = strings.Count(text, end)
	if text != "" && !strings.HasSuffix(text, end) {
		pg.total++
	}
	at := 0
	for i := 1; i < r.offset && at < len(text); i++ {
		n := strings.Index(text[at:], end)
		if n < 0 {
			at = len(text)
			break
		}
		at += n + 1
	}
	pg.before = text[:at]
	for len(pg.lines) < r.limit && at < len(text) {
		line, _, found := strings.Cut(text[at:], end)
		pg.lines = append(pg.lines, strings.TrimSuffix(line, "\r"))
		at += len(line)
		if found {
			at++
		}
	}
	return pg, nil
}

// readerFile is a file that is read through something else.
type readerFile struct {
	backend.File
	src io.Reader
}

func (f readerFile) Read(p []byte) (int, error) { return f.src.Read(p) }

// stream counts the lines of a large file and keeps only those asked for. It
// cuts lines in the bytes, so UTF-16 is left to whole.
func (r *request) stream(ctx context.Context, src io.Reader, head []byte) (*page, error) {
	sniffed, err := edit.DecodePrefix(head, r.encoding)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(sniffed.Encoding, "utf-16") {
		f := readerFile{nil, src}
		return r.whole(ctx, src, f, files.MaxEdit)
	}
	pg := &page{}
	sum := files.NewSum()
	buf := make([]byte, 1<<20)
	var kept []byte
	var last byte
	line := 1 // the one that the next byte belongs to
	for {
		n, err := src.Read(buf)
		part := buf[:n]
		_, _ = sum.Write(part) // never fails
		pg.print.Size += int64(n)
		if n > 0 {
			last = part[n-1]
		}
		for line < r.offset+r.limit && len(part) > 0 {
			i := bytes.IndexByte(part, '\n') + 1
			if i == 0 {
				i = len(part)
			}
			if line >= r.offset && len(kept) < 4*r.MaxReadChars+i {
				kept = append(kept, part[:i]...)
			}
			if part[i-1] == '\n' {
				line++
			}
			part = part[i:]
		}
		pg.total += bytes.Count(buf[:n], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if pg.print.Size > 0 && last != '\n' {
		pg.total++
	}
	pg.print.Sum = sum.Sum64()
	name := r.encoding
	if name == "" && sniffed.Encoding != "utf-8" {
		name = sniffed.Encoding
	}
	if pg.text, err = edit.DecodePrefix(kept, name); err != nil {
		return nil, err
	}
	pg.text.Guessed = pg.text.Guessed || sniffed.Guessed
	for l := range strings.SplitSeq(strings.TrimSuffix(pg.text.Content, "\n"), "\n") {
		if strings.HasSuffix(l, "\r") {
			pg.ends = "crlf"
		}
		pg.lines = append(pg.lines, strings.TrimSuffix(l, "\r"))
	}
	if len(kept) == 0 {
		pg.lines = nil
	}
	return pg, nil
}

// show renders a page and says what the reader should know about it.
func (r *request) show(res result, pg *page) (any, error) {
	res.TotalLines = pg.total
	if r.offset > max(pg.total, 1) {
		return nil, fail(res, "offset %d is past the end: the file has %d lines", r.offset, pg.total)
	}
	end := r.offset + len(pg.lines) - 1
	cut := 0
	for i, l := range pg.lines {
		if short, ok := shorten(l, r.MaxLineLength); ok {
			pg.lines[i] = short
			cut++
		}
	}
	keys := r.maskKeys(pg)
	res.Content = numbered(pg.lines, r.offset)
	if n := utf8.RuneCountInString(res.Content); n > r.MaxReadChars {
		fits := max(1, len(pg.lines)*r.MaxReadChars/n*9/10)
		res.Content = ""
		res.Advice = "content was withheld; total_lines and file_size are right"
		return nil, fail(res, "lines %d to %d of %s are %d characters, more than the %d that are shown at once: read about %d lines at a time (offset=%d, limit=%d), or find the place with search_files",
			r.offset, end, r.path.Given, n, r.MaxReadChars, fits, r.offset, fits)
	}
	var masked bool
	if res.Content, masked = r.Redact(res.Content); masked || keys {
		res.Redacted = true
		res.Warning = files.MaskedNote
	}
	if res.Truncated = pg.total > end; res.Truncated {
		res.Hint = fmt.Sprintf("Use offset=%d to continue reading (showing %d-%d of %d lines)", end+1, r.offset, end, pg.total)
	}
	r.describe(&res, pg, cut)
	r.State.Saw(r.path.Real, pg.print, r.offset > 1 || res.Truncated, r.encoding)
	return res, nil
}

func (r *request) maskKeys(pg *page) bool {
	return r.Redacts() && files.MaskKeys(pg.before, pg.lines)
}

// describe fills in what is not plain about a text.
func (r *request) describe(res *result, pg *page, cut int) {
	var hints []string
	warnings := r.Notices
	if res.Warning != "" {
		warnings = append(warnings, res.Warning)
	}
	t := pg.text
	switch {
	case t.BOM && t.Encoding == "utf-8":
		res.Encoding = "utf-8 with byte order mark"
	case t.Encoding != "" && t.Encoding != "utf-8":
		res.Encoding = t.Encoding
	}
	if res.Guessed = t.Guessed && res.Encoding != ""; res.Guessed {
		hints = append(hints, "the encoding is a guess: if the text looks wrong, read again with encoding=")
	}
	if t.Damaged > 0 {
		warnings = append(warnings, fmt.Sprintf("%d bytes are no characters of the encoding and show as \uFFFD; patch keeps them as they are", t.Damaged))
	}
	res.LineEnds = pg.ends
	if pg.total == 0 {
		hints = append(hints, "the file is empty")
	}
	if cut > 0 {
		hints = append(hints, fmt.Sprintf("%d lines longer than %d characters are cut", cut, r.MaxLineLength))
	}
	if res.FileSize > bigFile && r.limit > 200 && res.Truncated {
		hints = append(hints, "this is a large file: find the place with search_files and read fewer lines around it")
	}
	res.Note = r.path.Note
	res.Advice = strings.Join(hints, "; ")
	res.Warning = strings.Join(warnings, " | ")
}

func numbered(lines []string, from int) string {
	n := 0
	for _, l := range lines {
		n += len(l) + 8
	}
	b := make([]byte, 0, n)
	for i, l := range lines {
		if i > 0 {
			b = append(b, '\n')
		}
		num := strconv.Itoa(from + i)
		b = append(b, "      "[min(len(num), 6):]...)
		b = append(b, num...)
		b = append(b, '|')
		b = append(b, l...)
	}
	return string(b)
}

// shorten cuts a line after n characters.
func shorten(l string, n int) (string, bool) {
	if len(l) <= n {
		return l, false
	}
	for i := range l {
		if n == 0 {
			return l[:i] + "... [truncated]", true
		}
		n--
	}
	return l, false
}
