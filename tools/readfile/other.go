package readfile

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/gif" // the kinds whose size is told
	_ "image/jpeg"
	_ "image/png"
	"io/fs"
	"strconv"
	"strings"

	"github.com/hermes-go/hermes/internal/files"
)

// image describes a picture by its first bytes.
func (r *request) image(res result, head []byte) (result, bool) {
	kind := imageKind(head)
	if kind == "" {
		return res, false
	}
	res.IsImage, res.IsBinary = true, true
	res.MIME = "image/" + kind
	size := ""
	if c, _, err := image.DecodeConfig(bytes.NewReader(head)); err == nil {
		res.Width, res.Height = c.Width, c.Height
		size = fmt.Sprintf(" of %d x %d pixels", c.Width, c.Height)
	}
	res.Hint = fmt.Sprintf("%s is an image%s; its content is not text and is not shown. Work on it with programs in the terminal.", r.path.Given, size)
	res.Note = r.path.Note
	return res, true
}

func imageKind(head []byte) string {
	starts := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	switch {
	case starts("\x89PNG\r\n\x1a\n"):
		return "png"
	case starts("\xff\xd8\xff"):
		return "jpeg"
	case starts("GIF87a"), starts("GIF89a"):
		return "gif"
	case starts("RIFF") && len(head) > 12 && string(head[8:12]) == "WEBP":
		return "webp"
	case starts("BM") && len(head) > 14 && bytes.Equal(head[6:10], []byte{0, 0, 0, 0}):
		return "bmp"
	case starts("II*\x00"), starts("MM\x00*"):
		return "tiff"
	case starts("\x00\x00\x01\x00") && len(head) > 6 && head[5] == 0:
		return "x-icon"
	case len(head) > 12 && string(head[4:8]) == "ftyp" && (string(head[8:12]) == "avif" || string(head[8:12]) == "heic"):
		return string(head[8:12])
	}
	return ""
}

// list shows a directory, one entry a line, in pages like a text.
func (r *request) list(ctx context.Context) (any, error) {
	entries, err := r.FS.ReadDir(ctx, r.path.Real)
	if err != nil {
		return nil, r.cannotOpen(ctx, err)
	}
	res := result{IsDirectory: true, TotalLines: len(entries), Note: r.path.Note}
	if r.offset > max(len(entries), 1) {
		return nil, fail(res, "offset %d is past the end: the directory has %d entries", r.offset, len(entries))
	}
	part := entries[min(r.offset-1, len(entries)):]
	part = part[:min(r.limit, len(part))]
	lines := make([]string, len(part))
	for i, e := range part {
		lines[i] = e.Name() + files.Kind(e) + sizeOf(e)
	}
	res.Content = strings.Join(lines, "\n")
	if answer, err := r.repeated(files.PrintOf([]byte(res.Content))); answer != nil || err != nil {
		return answer, err
	}
	end := r.offset + len(part) - 1
	if res.Truncated = end < len(entries); res.Truncated {
		res.Hint = fmt.Sprintf("Use offset=%d to see more (showing %d-%d of %d entries)", end+1, r.offset, end, len(entries))
	}
	if len(entries) == 0 {
		res.Advice = "the directory is empty"
	} else {
		res.Advice = "this is a directory: / marks directories, @ links, and files have their size in bytes"
	}
	return res, nil
}

func sizeOf(e fs.DirEntry) string {
	if !e.Type().IsRegular() {
		return ""
	}
	info, err := e.Info()
	if err != nil {
		return "" // gone since the directory was read
	}
	return " " + strconv.FormatInt(info.Size(), 10)
}
