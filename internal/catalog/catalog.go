// Package catalog knows models by name: how much they take, how much they
// write and what they cost. What the program was built with stands in
// models.tsv; a newer list may lie in the home's cache. It asks nobody unless
// told to (Refresh), and it is no registry of services: provider is.
package catalog

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Model is what is known of a model at one service. Prices are dollars for a
// million tokens; Priced tells a free model from one whose price is unknown.
type Model struct {
	Provider  string  `json:"provider"`
	ID        string  `json:"id"`
	Window    int     `json:"context_window,omitempty"`
	MaxOutput int     `json:"max_output,omitempty"`
	Priced    bool    `json:"priced"`
	In        float64 `json:"input,omitempty"`
	Out       float64 `json:"output,omitempty"`
	Cached    float64 `json:"cache_read,omitempty"`
}

// Cost is what a call is estimated to have cost in dollars. input does not
// count what was read from the cache. ok is false when a needed price is
// missing: then nothing is known.
func (m Model) Cost(input, output, cached int) (dollars float64, ok bool) {
	if !m.Priced || cached > 0 && m.Cached == 0 && m.In > 0 {
		return 0, false
	}
	return (float64(input)*m.In + float64(output)*m.Out + float64(cached)*m.Cached) / 1e6, true
}

//go:embed models.tsv
var embedded string

// Catalog is one list of models, read-only. It is safe for many goroutines.
type Catalog struct {
	newer  []Model         // stand for every service they have anything of
	has    map[string]bool // those services
	Source string          // "built in", or the file it was read from
	Stamp  time.Time       // when it was fetched; zero for the built-in one

	mu    sync.Mutex
	found map[[2]string]Model // what was looked up, by provider and name
}

// Builtin is the list the program was built with.
func Builtin() *Catalog { return &Catalog{Source: "built in"} }

// CachePath is where a home keeps a newer list.
func CachePath(home string) string { return filepath.Join(home, "cache", "model_catalog.json") }

// cached is the file at CachePath.
type cached struct {
	FetchedAt time.Time `json:"fetched_at"`
	URL       string    `json:"url"`
	Models    []Model   `json:"models"`
}

// Open is the home's newer list over the built-in one. A damaged cache is
// reported and the built-in list returned with it.
func Open(home string) (*Catalog, error) {
	path := CachePath(home)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Builtin(), nil
	}
	if err != nil {
		return Builtin(), fmt.Errorf("read model catalogue: %w", err)
	}
	var c cached
	if err := json.Unmarshal(b, &c); err != nil {
		return Builtin(), fmt.Errorf("read model catalogue %s: %w; fetch it again with: hermes model refresh", path, err)
	}
	list := &Catalog{newer: c.Models, has: map[string]bool{}, Source: path, Stamp: c.FetchedAt}
	for _, m := range c.Models {
		list.has[m.Provider] = true
	}
	return list, nil
}

// row is a model as far as a search needs it. Reading every number of the list
// would take longer than all else that a start does with it.
type row struct {
	provider, id string
	rest         string // of the line in models.tsv
	known        *Model // from elsewhere
}

// all yields the models in the order of the list.
func (c *Catalog) all(yield func(row) bool) {
	for i := range c.newer {
		if m := &c.newer[i]; !yield(row{m.Provider, m.ID, "", m}) {
			return
		}
	}
	for line := range strings.Lines(embedded) {
		provider, rest, _ := strings.Cut(line, "\t")
		id, rest, ok := strings.Cut(rest, "\t")
		if !ok || strings.HasPrefix(line, "#") || c.has[provider] {
			continue
		}
		if !yield(row{provider, id, rest, nil}) {
			return
		}
	}
}

// Models lists a service's models in the order of the list, all of them for
// an empty name.
func (c *Catalog) Models(provider string) []Model {
	var out []Model
	for r := range c.all {
		if provider == "" || r.provider == provider {
			out = append(out, r.model())
		}
	}
	return out
}

// Find looks a model up at a service, and else by name alone: a model served
// elsewhere has the same window, though not the same price.
func (c *Catalog) Find(provider, id string) (Model, bool) {
	id = strings.TrimSpace(id)
	if id == "" {
		return Model{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{provider, id}
	m, ok := c.found[key]
	if !ok {
		if c.found == nil || len(c.found) > mostFound {
			c.found = map[[2]string]Model{}
		}
		m = c.search(provider, id)
		c.found[key] = m
	}
	return m, m.ID != ""
}

// mostFound bounds what is remembered of lookups.
const mostFound = 1000

// search is Find; no model has no name.
func (c *Catalog) search(provider, id string) Model {
	bare := lastName(id)
	var other Model
	for r := range c.all {
		if r.provider == provider && strings.EqualFold(r.id, id) {
			return r.model()
		}
		if other.ID == "" && strings.EqualFold(lastName(r.id), bare) {
			m := r.model()
			other = Model{Provider: m.Provider, ID: m.ID, Window: m.Window, MaxOutput: m.MaxOutput}
		}
	}
	return other
}

func lastName(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// model is all of the row. What is no number is unknown.
func (r row) model() Model {
	if r.known != nil {
		return *r.known
	}
	f := append(strings.Split(strings.TrimRight(r.rest, "\r\n"), "\t"), "", "", "", "")
	m := Model{Provider: r.provider, ID: r.id}
	m.Window, _ = strconv.Atoi(f[0])
	m.MaxOutput, _ = strconv.Atoi(f[1])
	var err error
	if m.In, err = strconv.ParseFloat(f[2], 64); err == nil {
		m.Priced = true
	}
	m.Out, _ = strconv.ParseFloat(f[3], 64)
	m.Cached, _ = strconv.ParseFloat(f[4], 64)
	return m
}
