package backend

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// FileSystem is direct access to an environment's files. An Env that lacks it
// is reached through Exec. Names are absolute paths in the environment's own
// form; errors wrap fs.ErrNotExist, fs.ErrExist and fs.ErrPermission where
// they apply.
type FileSystem interface {
	// Open opens a file for reading. ErrIrregular is wrapped for pipes, sockets
	// and devices, which may never end or never begin.
	Open(ctx context.Context, name string) (File, error)
	Stat(ctx context.Context, name string) (fs.FileInfo, error)
	Lstat(ctx context.Context, name string) (fs.FileInfo, error)
	ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) // sorted by name

	// WriteFile makes data the whole content of a file. Readers see the old
	// bytes or the new ones, never a mixture, also after a crash; links are
	// followed, mode and owner of an existing file kept, and the bytes are on
	// the disk when it returns. A hard link to the file keeps the old content.
	// Where the directory does not allow a new file beside the old one, the
	// file is written in place.
	WriteFile(ctx context.Context, name string, data []byte, o WriteOptions) error

	Mkdir(ctx context.Context, name string) error // with parents; an existing directory is fine
	Remove(ctx context.Context, name string) error
	Rename(ctx context.Context, from, to string) error // fails with fs.ErrExist when to exists

	// RealPath resolves links. A path that does not exist is resolved as far as
	// it does, so that a file about to be made has one name too.
	RealPath(ctx context.Context, name string) (string, error)
	Home(ctx context.Context) (string, error) // what ~ stands for
	TempDir(ctx context.Context) (string, error)
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// WriteOptions say how a file is written.
type WriteOptions struct {
	Mode fs.FileMode // permissions; 0: those of the existing file, else the user's default
	New  bool        // the file must not exist: fs.ErrExist
}

// ErrIrregular says that a name is neither a file nor a directory.
var ErrIrregular = errors.New("not a regular file")
