package skill

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options say what a library stands on. Everything is passed in; nothing of
// the configuration or the environment is read here.
type Options struct {
	Home      string        // of the program; its own skills are in skills/ below it
	UserHome  string        // "" leaves ~/.agents/skills out
	External  []string      // skills.external_dirs as written
	Project   func() string // directory of a trusted project's skills; "" for none; nil: none
	Disabled  []string
	Platforms map[string][]string // skills.platform_disabled

	Lookup      func(name string) (value string, ok bool) // environment variables that count
	Setting     func(key string) (value string, ok bool)  // skills.config.KEY as text
	NoTemplates bool
	InlineShell bool
	ShellLimit  time.Duration // of one snippet; 0: 10 s
	Env         func() []string
	Now         func() time.Time
	Build       string                             // of the program; "": what is read is not kept for the next one
	Seen        func(*Skill) (dir string, ok bool) // where commands find it; !ok: they do not; nil: where it lies
	Prepare     func(*Library)                     // once, before the skills are first looked at
	Trouble     func(error)                        // of records that are not worth failing for
}

// Library is the skills of one home: the catalogue, and what it takes to load
// and change them. It is safe for many sessions.
type Library struct {
	*Catalogue
	Options
	prepared sync.Once
	offMu    sync.RWMutex // Disabled and Platforms

	usageMu   sync.Mutex
	usage     map[string]Usage
	usageSize int64
	usageMod  time.Time

	plugins plugins
}

// List is the present state of all roots.
func (l *Library) List() *Listing {
	l.prepare()
	return l.Catalogue.List()
}

func (l *Library) prepare() {
	l.prepared.Do(func() {
		if l.Prepare != nil {
			l.Prepare(l)
		}
	})
}

// OpenTree makes a library of one directory that belongs to no home: for
// looking at skills, not for changing them.
func OpenTree(dir string) *Library {
	l := &Library{Catalogue: NewCatalogue(Root{dir, Tree})}
	l.Options.fill()
	return l
}

// Open makes the library of a home. It touches no file.
func Open(o Options) *Library {
	o.fill()
	l := &Library{Catalogue: newCatalogue(o.roots), Options: o}
	if o.Build != "" {
		l.recall = &Recall{Path: filepath.Join(o.Home, "cache", "skills.json"), Build: o.Build, Now: o.Now}
	}
	return l
}

// roots are where skills are, in the order of their precedence.
func (o *Options) roots() []Root {
	roots := []Root{{filepath.Join(o.Home, "skills"), Home}}
	for _, dir := range o.External {
		if dir = expand(strings.TrimSpace(dir), o.UserHome, o.Lookup); dir == "" {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(o.Home, dir)
		}
		roots = append(roots, Root{dir, External})
	}
	if o.UserHome != "" {
		roots = append(roots, Root{filepath.Join(o.UserHome, agentsDir), Agents})
	}
	if o.Project != nil {
		if dir := o.Project(); dir != "" {
			roots = append(roots, Root{dir, Project})
		}
	}
	return roots
}

// agentsDir is where programs of all kinds look for skills.
const agentsDir = ".agents" + string(filepath.Separator) + "skills"

// ProjectDir finds the skills of the project that a directory belongs to: those
// of the nearest directory above that has some, up to the top of its repository.
// They are not to be used before a person has said that the project is trusted.
func ProjectDir(workDir, userHome string) (project, skills string) {
	dir, err := filepath.EvalSymlinks(workDir)
	if err != nil {
		return "", ""
	}
	home, _ := filepath.EvalSymlinks(userHome) // "" when there is none
	for {
		if dir == home || dir == filepath.Dir(dir) {
			return "", ""
		}
		if info, err := os.Stat(filepath.Join(dir, agentsDir)); err == nil && info.IsDir() {
			return dir, filepath.Join(dir, agentsDir)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return "", ""
		}
		dir = filepath.Dir(dir)
	}
}

func (o *Options) fill() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lookup == nil {
		o.Lookup = func(string) (string, bool) { return "", false }
	}
	if o.Trouble == nil {
		o.Trouble = func(error) {}
	}
	if o.Setting == nil {
		o.Setting = func(string) (string, bool) { return "", false }
	}
}

// Dir is where skills are made.
func (l *Library) Dir() string { return filepath.Join(l.Home, "skills") }

// Off says for a platform which skills are switched off. A list of the
// platform's own replaces the general one, also when it is empty.
func (l *Library) Off(platform string) func(*Skill) bool {
	names := l.OffNames(platform)
	return func(s *Skill) bool {
		return slices.Contains(names, s.Name) || slices.Contains(names, s.DirName())
	}
}

// OffNames are the names that are switched off for a platform.
func (l *Library) OffNames(platform string) []string {
	l.offMu.RLock()
	defer l.offMu.RUnlock()
	if names, own := l.Platforms[platform]; own {
		return names
	}
	return l.Disabled
}

// SetOff says anew what is switched off; "" is for all platforms without a list
// of their own.
func (l *Library) SetOff(platform string, names []string) {
	l.offMu.Lock()
	defer l.offMu.Unlock()
	if platform == "" {
		l.Disabled = names
		return
	}
	platforms := map[string][]string{platform: names}
	for p, n := range l.Platforms {
		if p != platform {
			platforms[p] = n
		}
	}
	l.Platforms = platforms
}

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)`)
})

// expand fills in variables, and then a leading ~. Unknown variables stay.
func expand(s, userHome string, lookup func(string) (string, bool)) string {
	s = variable().ReplaceAllStringFunc(s, func(m string) string {
		if v, ok := lookup(strings.Trim(m, "${}")); ok {
			return v
		}
		return m
	})
	if userHome != "" && (s == "~" || strings.HasPrefix(s, "~/")) {
		return userHome + s[1:]
	}
	return s
}

// Exists says whether the home has a skills directory yet.
func (l *Library) Exists() bool {
	info, err := os.Stat(l.Dir())
	return err == nil && info.IsDir()
}
