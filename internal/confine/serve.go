package confine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hermes-go/hermes/backend"
)

// serve answers requests until there are no more.
func serve(r io.Reader, w io.Writer, files backend.FileSystem) error {
	s := &server{files: files, open: map[int]backend.File{}}
	in := bufio.NewReader(r)
	for {
		var q request
		if err := receive(in, &q); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		a, err := s.do(q)
		a.Err = failureOf(err)
		if err := send(w, a); err != nil {
			return err
		}
	}
}

type server struct {
	files backend.FileSystem
	open  map[int]backend.File
	last  int
}

func (s *server) do(q request) (a answer, err error) {
	ctx := context.Background()
	switch q.Op {
	case "open":
		f, err := s.files.Open(ctx, q.Name)
		if err != nil {
			return a, err
		}
		s.last++
		s.open[s.last] = f
		i, err := f.Stat()
		if err != nil {
			return a, err
		}
		now := infoOf(i)
		a.File, a.Info = s.last, &now
	case "read":
		f := s.open[q.File]
		if f == nil || q.Size < 0 || q.Size > maxMessage/2 {
			return a, errors.New("no such file is open")
		}
		a.Data = make([]byte, q.Size)
		n, err := f.ReadAt(a.Data, q.Off)
		a.Data = a.Data[:n]
		if errors.Is(err, io.EOF) {
			a.EOF, err = true, nil
		}
		return a, err
	case "close":
		f := s.open[q.File]
		delete(s.open, q.File)
		if f != nil {
			return a, f.Close()
		}
	case "stat", "lstat":
		look := s.files.Stat
		if q.Op == "lstat" {
			look = s.files.Lstat
		}
		i, err := look(ctx, q.Name)
		if err != nil {
			return a, err
		}
		now := infoOf(i)
		a.Info = &now
	case "list":
		list, err := s.files.ReadDir(ctx, q.Name)
		if err != nil {
			return a, err
		}
		a.List = make([]info, 0, len(list))
		for _, d := range list {
			one := info{N: d.Name(), M: d.Type()}
			if i, err := d.Info(); err == nil { // one that has just gone keeps its name
				one = infoOf(i)
			}
			a.List = append(a.List, one)
		}
	case "write":
		return a, s.files.WriteFile(ctx, q.Name, q.Data, q.O)
	case "mkdir":
		return a, s.files.Mkdir(ctx, q.Name)
	case "remove":
		return a, s.files.Remove(ctx, q.Name)
	case "rename":
		return a, s.files.Rename(ctx, q.Name, q.To)
	case "real":
		a.Name, err = s.files.RealPath(ctx, q.Name)
		return a, err
	default:
		return a, fmt.Errorf("there is no operation %q", q.Op)
	}
	return a, nil
}
