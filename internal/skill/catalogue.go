package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Catalogue knows the skills of some roots. A file is parsed once for each
// state it is seen in; every call looks whether something changed. It is safe
// for many sessions; what it returns must not be changed.
type Catalogue struct {
	Roots  func() []Root // the directories that are looked at
	goos   string
	recall *Recall // nil: nothing is kept from one program to the next

	begun atomic.Int64 // how often it was looked
	mu    sync.Mutex
	known map[string]*parsed // by path
	last  *Listing
}

// Listing is the state of all roots at one moment.
type Listing struct {
	Skills  []*Skill          // by category and name, shadowed and broken ones too
	About   map[string]string // category: what its DESCRIPTION.md says
	Trouble []string          // directories that could not be read
	order   []*Skill          // by precedence

	mu   sync.Mutex
	made *madeIndex // last
}

// parsed is a file in one state, without the place where it was found.
type parsed struct {
	Size    int64
	Mod     time.Time
	Name    string `json:",omitempty"` // "" for that of the directory
	Says    string `json:",omitempty"` // its description, or else its first words
	Skill   Skill
	failure error
}

// NewCatalogue makes a catalogue of roots in the order of their precedence. It
// looks at no file: a program that needs no skills pays nothing for them.
func NewCatalogue(roots ...Root) *Catalogue {
	return newCatalogue(func() []Root { return roots })
}

func newCatalogue(roots func() []Root) *Catalogue {
	c := &Catalogue{goos: Here}
	c.Roots = sync.OnceValue(func() []Root { return distinct(roots()) })
	return c
}

// distinct leaves out roots that are the same directory as an earlier one;
// missing ones stay, they are empty.
func distinct(roots []Root) []Root {
	var out []Root
	seen := map[string]bool{}
	for _, r := range roots {
		if r.Dir = filepath.Clean(r.Dir); r.Dir == "." {
			continue
		}
		id := r.Dir
		if info, err := os.Stat(r.Dir); err == nil {
			id = identity(r.Dir, info)
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, r)
		}
	}
	return out
}

// List is the present state. Of many who ask at once, one looks for all that
// came before it began.
func (c *Catalogue) List() *Listing {
	begun := c.begun.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && c.begun.Load() > begun {
		return c.last
	}
	c.begun.Add(1)
	if c.known == nil && c.recall != nil {
		c.known = c.recall.load()
	}
	roots := c.Roots()
	walks := make([]*walker, len(roots))
	each(len(roots), func(i int) { walks[i] = walk(roots[i].Dir) })

	var fresh []*parsed
	var paths []string
	trouble := c.last != nil && len(c.last.Trouble) > 0
	now := make(map[string]*parsed, len(c.known))
	for _, w := range walks {
		trouble = trouble || len(w.trouble) > 0
		for f := range w.all {
			p := c.known[f.path]
			if p == nil || p.Size != f.size || !p.Mod.Equal(f.mod) || p.failure != nil || f.err != nil {
				p = &parsed{Size: f.size, Mod: f.mod, failure: f.err}
				fresh, paths = append(fresh, p), append(paths, f.path)
			}
			now[f.path] = p
		}
	}
	if c.last != nil && len(fresh) == 0 && len(now) == len(c.known) && !trouble {
		return c.last
	}
	each(len(fresh), func(i int) { fresh[i].read(paths[i]) })
	if c.recall != nil && (slices.ContainsFunc(fresh, (*parsed).readable) || readable(now) != readable(c.known)) {
		c.recall.save(now)
	}
	c.known = now
	c.last = c.assemble(roots, walks)
	return c.last
}

func (p *parsed) readable() bool { return p.failure == nil }

func readable(files map[string]*parsed) (n int) {
	for _, p := range files {
		if p.readable() {
			n++
		}
	}
	return n
}

// each runs fn for 0..n-1 on as many goroutines as there are processors.
func each(n int, fn func(int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for i := range n {
			fn(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				fn(i)
			}
		})
	}
	wg.Wait()
}

// headSize is read of a file first; the rest only when its front matter is
// longer, or is none.
const headSize = 2 << 10

// heads are buffers for the beginnings of files; nothing of one is kept.
var heads = sync.Pool{New: func() any { return new([headSize]byte) }}

func (p *parsed) read(path string) {
	if p.failure != nil {
		return
	}
	buf, _ := heads.Get().(*[headSize]byte)
	defer heads.Put(buf)
	data, err := readHead(path, buf[:])
	if err != nil {
		p.failure = err
		return
	}
	p.summarise(Parse(data))
}

// readHead reads as much of a file as its front matter takes, and a little of
// the body.
func readHead(path string, buf []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return buf[:n], nil
	case err != nil:
		return nil, err
	}
	if t := split(buf); t.Found && t.Closed && !t.Late {
		return trimTail(buf), nil
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxFront))
	if err != nil {
		return nil, err
	}
	return trimTail(slices.Concat(buf, rest)), nil
}

// trimTail drops the last line, which may end in the middle of a character.
func trimTail(b []byte) []byte {
	for i := len(b) - 1; i > 0; i-- {
		if b[i] == '\n' {
			return b[:i+1]
		}
	}
	return b
}

func (p *parsed) summarise(d Doc) {
	s := &p.Skill
	s.State, s.Problem = OK, d.Broken
	if d.Broken != nil {
		s.State, s.Reason = Broken, d.Broken.Error()
	}
	// Cloned, for the whole text would be kept with them.
	p.Name = strings.Clone(d.Scalar("name"))
	s.Description = strings.Clone(d.Scalar("description"))
	if p.Says = s.Description; p.Says == "" {
		p.Says = strings.Clone(prose(d.Body))
	}
	if d.Broken == nil {
		s.Description = p.Says
	}
	s.Platforms, s.When = list(get(d.top, "platforms")), d.conditions()
	for _, tag := range d.Tags() {
		s.Tags = append(s.Tags, strings.Clone(tag))
	}
	s.Warnings = d.Said()
}

// assemble gives every file its place: name, category, state.
func (c *Catalogue) assemble(roots []Root, walks []*walker) *Listing {
	l := &Listing{About: map[string]string{}}
	first := map[string]*Skill{}
	for i, w := range walks {
		for _, err := range w.trouble {
			l.Trouble = append(l.Trouble, err.Error())
		}
		for category, f := range w.about {
			if l.About[category] == "" {
				l.About[category] = c.known[f.path].Says
			}
		}
		for _, f := range w.files {
			p := c.known[f.path]
			s := p.Skill
			s.short = s.Short()
			s.Dir, s.Path, s.Rel, s.Root, s.size, s.mod = f.dir, f.path, f.rel, roots[i], p.Size, p.Mod
			if s.Category = path.Dir(f.rel); s.Category == "." {
				s.Category = ""
			}
			if s.Name = oneLine(p.Name); s.Name == "" {
				s.Name = filepath.Base(f.dir)
			}
			if r := []rune(s.Name); len(r) > MaxName {
				s.Name = strings.TrimSpace(string(r[:MaxName]))
			}
			if p.failure != nil {
				s.State, s.Reason, s.closed = Broken, reasonOf(p.failure), true
			}
			if s.State == OK && !supported(s.Platforms, c.goos) {
				s.State, s.Reason = Unsupported, fmt.Sprintf("it is for %s; this is %s", strings.Join(s.Platforms, ", "), c.goos)
			}
			// What cannot be used here stands in nobody's way.
			if winner := first[s.Name]; winner != nil {
				s.State, s.Reason = Shadowed, "shadowed by "+winner.Path
			} else if s.State == OK || s.State == Broken {
				first[s.Name] = &s
			}
			l.order = append(l.order, &s)
		}
	}
	l.Skills = slices.Clone(l.order)
	slices.SortStableFunc(l.Skills, func(a, b *Skill) int {
		if n := strings.Compare(a.Category, b.Category); n != 0 {
			return n
		}
		return strings.Compare(a.Name, b.Name)
	})
	return l
}

func reasonOf(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return "it cannot be read: " + err.Error()
}
