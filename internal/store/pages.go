package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// image reads a database file page by page where SQLite gives up: after a page
// has been overwritten the rows of all others are still there, though nothing
// leads to them any more.
type image struct {
	size, usable int
	count        int
	page         func(n int) []byte // 1-based; nil if there is none
}

// newImage takes page sizes from the header, or guesses them when it is lost.
func newImage(page1 []byte, count int, page func(int) []byte) *image {
	m := &image{size: len(page1), usable: len(page1), count: count, page: page}
	if len(page1) >= 100 && bytes.HasPrefix(page1, []byte("SQLite format 3\x00")) {
		m.usable -= int(page1[20])
	}
	return m
}

// rowOf is a row of some table: its rowid and its values (nil, int64, float64,
// string or []byte).
type rowOf struct {
	id     int64
	values []any
}

const (
	tableLeaf = 0x0d
	tableNode = 0x05
	indexLeaf = 0x0a
	indexNode = 0x02
)

func (m *image) header(n int) ([]byte, int) {
	p := m.page(n)
	if len(p) < 100 {
		return nil, 0
	}
	if n == 1 {
		return p, 100
	}
	return p, 0
}

// walk lists the pages of the tree below root that are reachable.
func (m *image) walk(root int, seen map[int]bool) []int {
	var leaves []int
	todo := []int{root}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n < 1 || n > m.count || seen[n] {
			continue
		}
		p, at := m.header(n)
		if p == nil {
			continue
		}
		switch p[at] {
		case tableLeaf, indexLeaf:
			seen[n] = true
			leaves = append(leaves, n)
		case tableNode, indexNode:
			seen[n] = true
			for _, c := range m.cells(p, at, 12) {
				if c+4 <= len(p) {
					todo = append(todo, int(binary.BigEndian.Uint32(p[c:])))
				}
			}
			todo = append(todo, int(binary.BigEndian.Uint32(p[at+8:])))
		}
	}
	return leaves
}

// cells lists the offsets of a page's cells.
func (m *image) cells(p []byte, at, head int) []int {
	n := int(binary.BigEndian.Uint16(p[at+3:]))
	var out []int
	for i := range n {
		k := at + head + 2*i
		if k+2 > len(p) {
			break
		}
		if c := int(binary.BigEndian.Uint16(p[k:])); c >= at+head && c < m.usable {
			out = append(out, c)
		}
	}
	return out
}

// free lists the pages that hold deleted content.
func (m *image) free() map[int]bool {
	out := map[int]bool{}
	p := m.page(1)
	if len(p) < 100 {
		return out
	}
	for n := int(binary.BigEndian.Uint32(p[32:])); n > 0 && n <= m.count && !out[n]; {
		out[n] = true
		t := m.page(n)
		if len(t) < 8 {
			break
		}
		k := min(int(binary.BigEndian.Uint32(t[4:])), len(t)/4-2)
		for i := range max(k, 0) {
			out[int(binary.BigEndian.Uint32(t[8+4*i:]))] = true
		}
		n = int(binary.BigEndian.Uint32(t))
	}
	return out
}

// rows decodes the rows of a table's leaf; broken ones are left out.
func (m *image) rows(n int) []rowOf {
	p, at := m.header(n)
	if p == nil || p[at] != tableLeaf {
		return nil
	}
	var out []rowOf
	for _, c := range m.cells(p, at, 8) {
		if r, err := m.row(p, c); err == nil {
			out = append(out, r)
		}
	}
	return out
}

var errBroken = errors.New("broken row")

func (m *image) row(p []byte, c int) (rowOf, error) {
	size, k := varint(p[c:])
	if k == 0 || size > 1<<30 {
		return rowOf{}, errBroken
	}
	c += k
	id, k := varint(p[c:])
	if k == 0 {
		return rowOf{}, errBroken
	}
	c += k
	payload, err := m.payload(p, c, int(size))
	if err != nil {
		return rowOf{}, err
	}
	values, err := decodeRecord(payload)
	return rowOf{int64(id), values}, err
}

// payload joins what lies in the cell with its overflow pages.
func (m *image) payload(p []byte, c, size int) ([]byte, error) {
	local := size
	if most := m.usable - 35; size > most {
		least := (m.usable-12)*32/255 - 23
		if local = least + (size-least)%(m.usable-4); local > most {
			local = least
		}
	}
	if c+local > len(p) {
		return nil, errBroken
	}
	if local == size {
		return p[c : c+local], nil
	}
	if c+local+4 > len(p) {
		return nil, errBroken
	}
	out := append(make([]byte, 0, size), p[c:c+local]...)
	next := int(binary.BigEndian.Uint32(p[c+local:]))
	for len(out) < size {
		o := m.page(next)
		if next < 1 || next > m.count || len(o) < m.usable {
			return nil, errBroken
		}
		out = append(out, o[4:4+min(m.usable-4, size-len(out))]...)
		next = int(binary.BigEndian.Uint32(o))
	}
	return out, nil
}

func decodeRecord(b []byte) ([]any, error) {
	head, k := varint(b)
	if k == 0 || head > uint64(len(b)) || int(head) < k {
		return nil, errBroken
	}
	types, body := b[k:head], b[head:]
	var out []any
	for len(types) > 0 {
		t, k := varint(types)
		if k == 0 {
			return nil, errBroken
		}
		types = types[k:]
		n := sizeOf(t)
		if n < 0 || n > len(body) {
			return nil, errBroken
		}
		out = append(out, decodeValue(t, body[:n]))
		body = body[n:]
	}
	return out, nil
}

func sizeOf(t uint64) int {
	switch {
	case t <= 4:
		return int(t)
	case t == 5:
		return 6
	case t == 6 || t == 7:
		return 8
	case t == 8 || t == 9:
		return 0
	case t < 12 || t > 1<<31:
		return -1
	}
	return int(t-12) / 2
}

func decodeValue(t uint64, b []byte) any {
	switch {
	case t == 0:
		return nil
	case t <= 6:
		v := int64(int8(b[0]))
		for _, c := range b[1:] {
			v = v<<8 | int64(c)
		}
		return v
	case t == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case t == 8 || t == 9:
		return int64(t - 8)
	case t%2 == 0:
		return bytes.Clone(b)
	}
	return string(b)
}

// varint reads SQLite's variable-length integer; 0 bytes means there is none.
func varint(b []byte) (uint64, int) {
	var v uint64
	for i := range min(len(b), 9) {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
