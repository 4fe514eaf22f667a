package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds one line of a stream: images come as base64 in one event.
const maxLine = 32 << 20

// Event is one server-sent event. Data is valid until the next call of Next.
type Event struct {
	Name    string
	Data    []byte
	Comment bool // a sign of life without an event
}

// Reader reads server-sent events. It is lenient where services are sloppy: a
// line that starts with "{" outside a field is taken as data, since some
// gateways write their errors bare into the stream.
type Reader struct {
	r    *bufio.Reader
	data bytes.Buffer
	long []byte
	seen bool
}

// lineBuffers are what readers read into, for the next of them.
var lineBuffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 16<<10) }}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader {
	b := lineBuffers.Get().(*bufio.Reader)
	b.Reset(r)
	return &Reader{r: b}
}

// Release ends the reading.
func (r *Reader) Release() {
	r.r.Reset(nil)
	lineBuffers.Put(r.r)
	r.r = nil
}

// Next returns the next event or comment. The error is io.EOF at the end of
// the stream, with an unfinished last event delivered first.
func (r *Reader) Next() (Event, error) {
	r.data.Reset()
	var ev Event
	has := false
	for {
		line, err := r.line()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			if has && errors.Is(err, io.EOF) {
				ev.Data = r.data.Bytes()
				return ev, nil
			}
			return Event{}, err
		}
		if !r.seen {
			r.seen = true
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(line) == 0 {
			if has {
				ev.Data = r.data.Bytes()
				return ev, nil
			}
			ev.Name = ""
			continue
		}
		if line[0] == ':' {
			if has || ev.Name != "" {
				continue
			}
			return Event{Comment: true}, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
		switch {
		case string(name) == "data":
			if has {
				r.data.WriteByte('\n')
			}
			has = true
			r.data.Write(value)
		case string(name) == "event":
			ev.Name = string(value)
		case line[0] == '{':
			if has {
				r.data.WriteByte('\n')
			}
			has = true
			r.data.Write(line)
		}
	}
}

// line returns the next line without its end ("\n", "\r\n" or "\r"); it is
// valid until the next call.
func (r *Reader) line() ([]byte, error) {
	r.long = r.long[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		if len(r.long)+len(part) > maxLine {
			return nil, fmt.Errorf("a line of the stream is longer than %d bytes", maxLine)
		}
		if err == nil && len(r.long) == 0 {
			return trimEnd(part), nil
		}
		r.long = append(r.long, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return trimEnd(r.long), err
	}
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}
