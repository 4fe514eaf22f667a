package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
)

// loadImage reads all pages of the file. Where SQLite still opens it, it reads
// them through SQLite, log included; a file without its header cannot be opened
// by anyone, and only then it is read as bytes.
func loadImage(ctx context.Context, dsn, path string) (*image, error) {
	if pages, err := pagesByDriver(ctx, dsn); err == nil && len(pages) > 0 {
		return imageOf(pages), nil
	}
	return loadRaw(path)
}

func imageOf(pages [][]byte) *image {
	get := func(n int) []byte {
		if n < 1 || n > len(pages) {
			return nil
		}
		return pages[n-1]
	}
	return newImage(get(1), len(pages), get)
}

func pagesByDriver(ctx context.Context, dsn string) ([][]byte, error) {
	c, err := dial(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.close() }() // only read from
	rows, err := c.QueryContext(ctx, "SELECT data FROM sqlite_dbpage ORDER BY pgno")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var pages [][]byte
	for rows.Next() {
		var b []byte
		if err := rows.Scan(&b); err != nil {
			return nil, err
		}
		pages = append(pages, b)
	}
	return pages, rows.Err()
}

// loadRaw reads the file and lays the committed pages of its log over it.
func loadRaw(path string) (*image, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	size := 4096
	if bytes.HasPrefix(file, []byte("SQLite format 3\x00")) {
		if size = int(binary.BigEndian.Uint16(file[16:])); size == 1 {
			size = 65536
		}
	} else if len(wal) >= 32 {
		size = int(binary.BigEndian.Uint32(wal[8:]))
	}
	if size < 512 || size > 65536 || size&(size-1) != 0 {
		size = 4096
	}
	var pages [][]byte
	for len(file) >= size {
		pages = append(pages, file[:size])
		file = file[size:]
	}
	return imageOf(overlay(pages, wal, size)), nil
}

// overlay applies a write-ahead log up to its last commit. Frames of an older
// round of the log have another salt.
func overlay(pages [][]byte, wal []byte, size int) [][]byte {
	const head, frame = 32, 24
	if len(wal) < head {
		return pages
	}
	salt := wal[16:24]
	pending := map[int][]byte{}
	for at := head; at+frame+size <= len(wal); at += frame + size {
		f := wal[at : at+frame]
		if !bytes.Equal(f[8:16], salt) {
			break
		}
		n := int(binary.BigEndian.Uint32(f))
		if n < 1 || n > 1<<30 {
			break
		}
		pending[n] = wal[at+frame : at+frame+size]
		if binary.BigEndian.Uint32(f[4:]) == 0 {
			continue
		}
		for n, p := range pending {
			for len(pages) < n && n < len(pages)+1<<20 {
				pages = append(pages, make([]byte, size))
			}
			if n <= len(pages) {
				pages[n-1] = p
			}
		}
		clear(pending)
	}
	return pages
}
