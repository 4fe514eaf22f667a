package confine

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// A message is its length in four bytes, and JSON.

// request asks for one operation on a file.
type request struct {
	Op   string               `json:"op"`
	Name string               `json:"name,omitempty"`
	To   string               `json:"to,omitempty"`
	File int                  `json:"file,omitempty"` // an open one
	Off  int64                `json:"off,omitempty"`
	Size int                  `json:"size,omitempty"`
	Data []byte               `json:"data,omitempty"`
	O    backend.WriteOptions `json:"o"`
}

// answer is what came of it.
type answer struct {
	Err  *failure `json:"err,omitempty"`
	EOF  bool     `json:"eof,omitempty"`
	Name string   `json:"name,omitempty"`
	File int      `json:"file,omitempty"`
	Data []byte   `json:"data,omitempty"`
	Info *info    `json:"info,omitempty"`
	List []info   `json:"list,omitempty"`
}

// info implements fs.FileInfo and fs.DirEntry.
type info struct {
	N string      `json:"n"`
	S int64       `json:"s"`
	M fs.FileMode `json:"m"`
	T time.Time   `json:"t"`
}

func (i info) Name() string               { return i.N }
func (i info) Size() int64                { return i.S }
func (i info) Mode() fs.FileMode          { return i.M }
func (i info) Type() fs.FileMode          { return i.M.Type() }
func (i info) ModTime() time.Time         { return i.T }
func (i info) IsDir() bool                { return i.M.IsDir() }
func (i info) Sys() any                   { return nil }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) String() string             { return fs.FormatFileInfo(i) }

func infoOf(f fs.FileInfo) info { return info{f.Name(), f.Size(), f.Mode(), f.ModTime()} }

// failure is an error on its way to the other process.
type failure struct {
	Kind string `json:"kind,omitempty"`
	Text string `json:"text"`
}

// kinds are the errors that callers look for.
func kinds() map[string]error {
	return map[string]error{
		"not exist": fs.ErrNotExist, "exist": fs.ErrExist, "permission": fs.ErrPermission, "irregular": backend.ErrIrregular,
	}
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	var p *fs.PathError
	if errors.As(err, &p) {
		f.Text = p.Err.Error()
	}
	for kind, is := range kinds() {
		if errors.Is(err, is) {
			f.Kind = kind
		}
	}
	return f
}

// Error implements error.
func (f *failure) Error() string { return f.Text }

// Unwrap gives the error that is known everywhere.
func (f *failure) Unwrap() error { return kinds()[f.Kind] }

const maxMessage = 64 << 20

func send(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxMessage {
		return fmt.Errorf("%d MB are too much at once", len(b)>>20)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

func receive(r *bufio.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxMessage {
		return errors.New("the message is too long")
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
