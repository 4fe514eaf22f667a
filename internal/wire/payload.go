package wire

import (
	"io"
	"slices"
	"sync"
)

// Payload is a request's body in pieces. What many requests have in common,
// the tools and the system prompt, is one piece of memory for all of them.
type Payload [][]byte

// Len is the number of bytes.
func (p Payload) Len() (n int) {
	for _, piece := range p {
		n += len(piece)
	}
	return n
}

// Bytes joins the pieces.
func (p Payload) Bytes() []byte { return slices.Concat(p...) }

// Reader reads the pieces one after another.
func (p Payload) Reader() io.ReadCloser { return &payloadReader{rest: slices.Clone(p)} }

type payloadReader struct{ rest Payload }

func (r *payloadReader) Read(b []byte) (n int, err error) {
	for n < len(b) && len(r.rest) > 0 {
		c := copy(b[n:], r.rest[0])
		n += c
		if r.rest[0] = r.rest[0][c:]; len(r.rest[0]) == 0 {
			r.rest = r.rest[1:]
		}
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *payloadReader) Close() error { return nil }

// Kept is what was written last, and for what: most requests of a client say
// the same in long parts. It is safe for many requests at a time.
type Kept[K any] struct {
	mu  sync.Mutex
	key K
	raw []byte
}

// Of is what write makes of a key. What it returns is not to be changed.
func (t *Kept[K]) Of(key K, same func(a, b K) bool, write func(K) ([]byte, error)) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.raw == nil || !same(t.key, key) {
		raw, err := write(key)
		if err != nil {
			return nil, err
		}
		t.key, t.raw = key, raw
	}
	return t.raw, nil
}

// SameTools compares by address what a client translates only once.
func SameTools(a, b []Tool) bool {
	return slices.EqualFunc(a, b, func(a, b Tool) bool {
		return a.Name == b.Name && a.About == b.About && len(a.Parameters) == len(b.Parameters) &&
			(len(a.Parameters) == 0 || &a.Parameters[0] == &b.Parameters[0])
	})
}
