package remote

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hermes-go/hermes/backend"
)

// Files reaches files by a shell at the place that carries out one operation
// after another, so that each costs no more than a round trip. Only writing is
// a program of its own: its input is the content.
type Files struct {
	Env *Env

	mu  sync.Mutex
	con Conn
	in  *bufio.Reader
}

var _ backend.FileSystem = (*Files)(nil)

// filesScript answers operations, one a line: a name and its arguments, each
// word with octal escapes. An answer is lines that end with one of
//
//	ok
//	no KIND MESSAGE
//
// With arguments it answers those and ends.
const filesScript = `LC_ALL=C; export LC_ALL
fmt='%f %s %Y %y'
no() { printf 'no %s %s\n' "$1" "$2"; }
why() {
	if [ ! -e "$1" ] && [ ! -L "$1" ]; then
		d=${1%/*}
		if [ -d "${d:-/}" ] && [ ! -x "${d:-/}" ]; then no permission "permission denied"; else no missing "no such file or directory"; fi
	elif [ -d "$1" ]; then no other "is a directory"
	elif [ ! -r "$1" ]; then no permission "permission denied"
	else no other "$(printf '%s' "$2" | tr '\n' ' ')"; fi
}
real() {
	p=$1 rest=
	while :; do
		r=$(readlink -f -- "$p" 2>/dev/null; echo .); r=${r%?}; r=${r%?}
		[ -n "$r" ] && break
		n=${p##*/}; p=${p%/*}; p=${p:-/}
		rest=/$n$rest
		[ "$p" = / ] && { r=/; break; }
	done
	r=${r%/}$rest
	printf '%s' "${r:-/}"
}
op() {
	case $1 in
	stat) e=$(stat -L -c "$fmt" -- "$2" 2>&1) && printf '%s\nok\n' "$e" || why "$2" "$e" ;;
	lstat) e=$(stat -c "$fmt" -- "$2" 2>&1) && printf '%s\nok\n' "$e" || why "$2" "$e" ;;
	list)
		if [ ! -d "$2" ]; then [ -e "$2" ] && no other "not a directory" || why "$2"
		elif [ ! -r "$2" ]; then no permission "permission denied"
		else find "${2%/}/" -mindepth 1 -maxdepth 1 -exec stat -c "$fmt %n" -- {} + 2>/dev/null; echo ok; fi ;;
	open)
		if [ -d "$2" ] || [ -f "$2" ]; then
			if [ -r "$2" ]; then e=$(stat -L -c "$fmt" -- "$2" 2>&1) && printf '%s\nok\n' "$e" || why "$2" "$e"; else no permission "permission denied"; fi
		elif [ -e "$2" ]; then no irregular "not a regular file"
		else why "$2"; fi ;;
	read) [ -r "$2" ] && [ ! -d "$2" ] && { tail -c "+$3" -- "$2" | head -c "$4" | base64; echo ok; } || why "$2" ;;
	mkdir) e=$(mkdir -p -- "$2" 2>&1) && echo ok || { [ -e "$2" ] && no exist "$e" || no other "$(printf '%s' "$e" | tr '\n' ' ')"; } ;;
	remove)
		if [ -d "$2" ] && [ ! -L "$2" ]; then e=$(rmdir -- "$2" 2>&1); elif [ -e "$2" ] || [ -L "$2" ]; then e=$(rm -f -- "$2" 2>&1); else why "$2"; return; fi
		[ $? = 0 ] && echo ok || no other "$(printf '%s' "$e" | tr '\n' ' ')" ;;
	rename)
		if [ ! -e "$2" ] && [ ! -L "$2" ]; then why "$2"
		elif [ -e "$3" ] || [ -L "$3" ]; then no exist "file exists"
		else e=$(mv -- "$2" "$3" 2>&1) && echo ok || no other "$(printf '%s' "$e" | tr '\n' ' ')"; fi ;;
	real) real "$2" | base64; echo ok ;;
	*) no other "no such operation" ;;
	esac
}
if [ $# -gt 0 ]; then op "$@"; exit; fi
while IFS= read -r line; do
	set --
	for w in $line; do x=$(printf '%b.' "$w"); set -- "$@" "${x%?}"; done
	op "$@"
done`

// Octal writes a word so that the shell reads it back, whatever is in it.
func Octal(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '/', c == '.', c == '-', c == '_', c == '+':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\0%03o`, c)
		}
	}
	if s == "" {
		return `\0000` // a word that is not there would be another's
	}
	return b.String()
}

// ask carries out one operation and returns the lines of its answer.
func (f *Files) ask(ctx context.Context, op string, args ...string) ([]string, error) {
	if slices.ContainsFunc(args, func(s string) bool { return s == "" || strings.ContainsRune(s, 0) }) {
		return nil, &fs.PathError{Op: op, Path: args[0], Err: errors.New("it is no name of a file")}
	}
	if f.Env.o.Batch {
		out, _, err := f.Env.output(ctx, Program{Argv: append([]string{"sh", "-c", filesScript, "sh", op}, args...)})
		if err != nil {
			return nil, err
		}
		lines, err := readAnswer(bufio.NewReader(strings.NewReader(string(out))))
		return lines, named(err, op, args[0])
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	for range 2 { // a shell that has ended meanwhile is replaced
		fresh := f.con == nil
		if fresh {
			if f.con, err = f.Env.o.Place.Start(context.WithoutCancel(ctx), Program{Argv: []string{"sh", "-c", filesScript}}); err != nil {
				return nil, err
			}
			go func(c Conn) { _, _ = io.Copy(io.Discard, c.Err()) }(f.con) // ends with the connection
			f.in = bufio.NewReaderSize(f.con.Out(), 64<<10)
		}
		line := op
		for _, a := range args {
			line += " " + Octal(a)
		}
		stop := context.AfterFunc(ctx, func() { _ = f.con.Close() })
		var lines []string
		if _, err = io.WriteString(f.con, line+"\n"); err == nil {
			lines, err = readAnswer(f.in)
		}
		if !stop() { // it was closed, or is being closed
			f.con = nil
			return nil, ctx.Err()
		}
		var answer *refusal
		if err == nil || errors.As(err, &answer) {
			return lines, named(err, op, args[0])
		}
		_ = f.con.Close() // it is broken
		f.con = nil
		if fresh {
			break
		}
	}
	return nil, fmt.Errorf("%s: the way to the files broke: %w", f.Env.o.Name, err)
}

// Close ends the shell.
func (f *Files) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.con != nil {
		_ = f.con.Close() // it holds nothing
		f.con = nil
	}
}

// refusal is an error that the place answered.
type refusal struct{ kind, text string }

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error {
	switch r.kind {
	case "missing":
		return fs.ErrNotExist
	case "exist":
		return fs.ErrExist
	case "permission":
		return fs.ErrPermission
	case "irregular":
		return backend.ErrIrregular
	}
	low := strings.ToLower(r.text)
	switch {
	case strings.Contains(low, "no such file"):
		return fs.ErrNotExist
	case strings.Contains(low, "permission denied"), strings.Contains(low, "read-only file system"):
		return fs.ErrPermission
	}
	return nil
}

func named(err error, op, name string) error {
	var r *refusal
	if errors.As(err, &r) {
		return &fs.PathError{Op: op, Path: name, Err: r}
	}
	return err
}

func readAnswer(in *bufio.Reader) ([]string, error) {
	var lines []string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "ok" {
			return lines, nil
		}
		if rest, ok := strings.CutPrefix(line, "no "); ok {
			kind, text, _ := strings.Cut(rest, " ")
			return nil, &refusal{kind, text}
		}
		lines = append(lines, line)
	}
}

// info implements fs.FileInfo and fs.DirEntry.
type info struct {
	name string
	size int64
	mode fs.FileMode
	time time.Time
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) Mode() fs.FileMode          { return i.mode }
func (i info) Type() fs.FileMode          { return i.mode.Type() }
func (i info) ModTime() time.Time         { return i.time }
func (i info) IsDir() bool                { return i.mode.IsDir() }
func (i info) Sys() any                   { return nil }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) String() string             { return fs.FormatFileInfo(i) }

// parseInfo reads what stat printed; rest is what follows.
func parseInfo(line string) (i info, rest string, ok bool) {
	w := strings.SplitN(line, " ", 7) // mode size seconds date time zone rest
	if len(w) < 6 {
		return i, "", false
	}
	mode, err1 := strconv.ParseUint(w[0], 16, 32)
	size, err2 := strconv.ParseInt(w[1], 10, 64)
	sec, err3 := strconv.ParseInt(w[2], 10, 64)
	if errors.Join(err1, err2, err3) != nil || len(w[3]) != len("2006-01-02") {
		return i, "", false
	}
	var nano int64
	if _, frac, ok := strings.Cut(w[4], "."); ok {
		nano, _ = strconv.ParseInt((frac + "000000000")[:9], 10, 64) // without it, whole seconds
	}
	if len(w) == 7 {
		rest = w[6]
	}
	return info{size: size, mode: modeOf(uint32(mode)), time: time.Unix(sec, nano)}, rest, true
}

// modeOf translates st_mode.
func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	for _, b := range []struct {
		bit  uint32
		mode fs.FileMode
	}{{0o4000, fs.ModeSetuid}, {0o2000, fs.ModeSetgid}, {0o1000, fs.ModeSticky}} {
		if m&b.bit != 0 {
			mode |= b.mode
		}
	}
	switch m & 0o170000 {
	case 0o040000:
		mode |= fs.ModeDir
	case 0o120000:
		mode |= fs.ModeSymlink
	case 0o010000:
		mode |= fs.ModeNamedPipe
	case 0o140000:
		mode |= fs.ModeSocket
	case 0o020000:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case 0o060000:
		mode |= fs.ModeDevice
	}
	return mode
}

func (f *Files) look(ctx context.Context, op, name string) (info, error) {
	lines, err := f.ask(ctx, op, name)
	if err != nil {
		return info{}, err
	}
	i, _, ok := parseInfo(strings.Join(lines, " "))
	if !ok {
		return info{}, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("stat there answered %q", lines)}
	}
	i.name = path.Base(name)
	return i, nil
}

func (f *Files) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	i, err := f.look(ctx, "stat", name)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (f *Files) Lstat(ctx context.Context, name string) (fs.FileInfo, error) {
	i, err := f.look(ctx, "lstat", name)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (f *Files) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	lines, err := f.ask(ctx, "list", name)
	if err != nil {
		return nil, err
	}
	var list []info
	for _, line := range lines {
		i, full, ok := parseInfo(line)
		if !ok {
			if len(list) > 0 { // a name with a line break
				list[len(list)-1].name += "\n" + line
			}
			continue
		}
		i.name = full
		list = append(list, i)
	}
	entries := make([]fs.DirEntry, len(list))
	for n, i := range list {
		i.name = path.Base(i.name)
		entries[n] = i
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (f *Files) Mkdir(ctx context.Context, name string) error {
	_, err := f.ask(ctx, "mkdir", name)
	return err
}

func (f *Files) Remove(ctx context.Context, name string) error {
	_, err := f.ask(ctx, "remove", name)
	return err
}

func (f *Files) Rename(ctx context.Context, from, to string) error {
	_, err := f.ask(ctx, "rename", from, to)
	return err
}

func (f *Files) RealPath(ctx context.Context, name string) (string, error) {
	lines, err := f.ask(ctx, "real", path.Clean(name))
	if err != nil {
		return "", err
	}
	b, err := base64.StdEncoding.DecodeString(strings.Join(lines, ""))
	return string(b), err
}

// Home implements backend.FileSystem.
func (f *Files) Home(ctx context.Context) (string, error) { return f.Env.Home(ctx) }

// TempDir implements backend.FileSystem.
func (f *Files) TempDir(ctx context.Context) (string, error) { return f.Env.TempDir(ctx) }

func (f *Files) Open(ctx context.Context, name string) (backend.File, error) {
	i, err := f.look(ctx, "open", name)
	if err != nil {
		return nil, err
	}
	return &file{files: f, ctx: context.WithoutCancel(ctx), name: name, info: i}, nil
}

// file reads pieces of a file as they are wanted.
type file struct {
	files *Files
	ctx   context.Context
	name  string
	info  info
	off   int64

	have []byte // the piece read last
	at   int64  // where it begins
}

// piece is what is asked for at once: small reads come from one answer.
const piece = 1 << 20

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		pos := off + int64(n)
		if pos < f.at || pos >= f.at+int64(len(f.have)) {
			lines, err := f.files.ask(f.ctx, "read", f.name, strconv.FormatInt(pos+1, 10), strconv.Itoa(piece))
			if err != nil {
				return n, err
			}
			b, err := base64.StdEncoding.DecodeString(strings.Join(lines, ""))
			if err != nil {
				return n, fmt.Errorf("read %s: %w", f.name, err)
			}
			f.have, f.at = b, pos
			if len(b) == 0 {
				return n, io.EOF
			}
		}
		n += copy(p[n:], f.have[pos-f.at:])
	}
	return n, nil
}

func (f *file) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	// What is there of one piece is enough.
	want := p
	if left := f.at + int64(len(f.have)) - f.off; f.off >= f.at && left > 0 && int64(len(p)) > left {
		want = p[:left]
	} else if len(p) > piece {
		want = p[:piece]
	}
	n, err := f.ReadAt(want, f.off)
	f.off += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

// writeScript makes its input the content of a file: beside it, and in its
// place when every byte has come. Arguments: the file, its size, its mode or
// nothing, whether it must be new.
const writeScript = `LC_ALL=C; export LC_ALL
t=$1 size=$2 mode=$3 new=$4
no() { printf 'no %s %s\n' "$1" "$(printf '%s' "$2" | tr '\n' ' ')"; exit 1; }
d=${t%/*}; d=${d:-/}; n=${t##*/}
if [ -e "$t" ] || [ -L "$t" ]; then
	[ -z "$new" ] || no exist "file exists"
	[ ! -d "$t" ] || no other "is a directory"
	[ -f "$t" ] || no irregular "not a regular file"
	[ -w "$t" ] || no permission "permission denied"
	old=yes
else
	old=
fi
[ -d "$d" ] || { [ -e "$d" ] && no other "$d is not a directory"; no missing "no such file or directory"; }
tmp=$d/.hermes-$$-$5.tmp
trap 'rm -f -- "$tmp"' EXIT
if e=$( { : >"$tmp"; } 2>&1 ); then
	place=beside
elif [ "$old" ]; then
	place=over tmp=${TMPDIR:-/tmp}/.hermes-$$-$5.tmp
	e=$( (umask 077; : >"$tmp") 2>&1 ) || no other "$e"
else
	no other "$e"
fi
if [ "$old" ] && [ $place = beside ]; then
	chown "$(stat -c %u:%g -- "$t")" "$tmp" 2>/dev/null || { [ "$(stat -c %u:%g -- "$t")" = "$(stat -c %u:%g -- "$tmp")" ] || { place=over; }; }
	chmod "$(stat -c %a -- "$t")" "$tmp" 2>/dev/null
fi
e=$( { cat >"$tmp"; } 2>&1 ) || no other "$e"
have=$(wc -c <"$tmp")
[ "$have" -eq "$size" ] || no other "only $have of $size bytes arrived"
[ -z "$mode" ] || e=$(chmod "$mode" "$tmp" 2>&1) || no other "$e"
sync "$tmp" 2>/dev/null || sync 2>/dev/null
if [ $place = over ]; then
	e=$( { cat "$tmp" >"$t"; } 2>&1 ) || no other "$e"
	[ -z "$mode" ] || chmod "$mode" "$t" 2>/dev/null
elif [ "$new" ] && ln "$tmp" "$t" 2>/dev/null; then
	:
elif [ "$new" ] && [ -e "$t" ]; then
	no exist "file exists"
else
	e=$(mv -f -- "$tmp" "$t" 2>&1) || no other "$e"
fi
echo ok`

func (f *Files) WriteFile(ctx context.Context, name string, data []byte, o backend.WriteOptions) error {
	target, err := f.RealPath(ctx, name)
	if err != nil {
		return err
	}
	mode, fresh := "", ""
	if o.Mode != 0 {
		mode = fmt.Sprintf("%o", o.Mode.Perm())
	}
	if o.New {
		fresh = "new"
	}
	c, err := f.Env.o.Place.Start(ctx, Program{Argv: []string{"sh", "-c", writeScript, "sh", target, strconv.Itoa(len(data)), mode, fresh, randomName()}})
	if err != nil {
		return err
	}
	go func() { // ends with the connection
		_, _ = c.Write(data) // one that is cut short is seen there
		_ = c.CloseWrite()
	}()
	out, _, err := collectOpen(ctx, c)
	if err != nil {
		return fmt.Errorf("write %s: the way to %s broke: %w", name, f.Env.o.Name, err)
	}
	_, err = readAnswer(bufio.NewReader(strings.NewReader(string(out))))
	return named(err, "write", name)
}
