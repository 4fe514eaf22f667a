package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DefaultURL is a public list of models with windows and prices.
const DefaultURL = "https://models.dev/api.json"

const mostList = 32 << 20

// names are services that the public list calls differently.
var names = [...][2]string{
	{"google", "gemini"},
	{"vercel", "ai-gateway"},
	{"opencode", "opencode-zen"},
	{"kimi-for-coding", "kimi-coding"},
	{"github-copilot", "copilot"},
	{"moonshotai", "kimi-coding"},
	{"moonshotai-cn", "kimi-coding-cn"},
	{"fireworks-ai", "fireworks"},
	{"togetherai", "together"},
}

func ourName(id string) string {
	for _, n := range names {
		if n[0] == id {
			return n[1]
		}
	}
	return id
}

// Refresh fetches the list at url and keeps it in the home, so that Open finds
// it. known says which services are worth keeping. An answer without models
// changes nothing.
func Refresh(ctx context.Context, client *http.Client, home, url string, known func(provider string) bool, now time.Time) (*Catalog, error) {
	models, err := fetch(ctx, client, url, known)
	if err != nil {
		return nil, fmt.Errorf("fetch model catalogue %s: %w; the list at hand stays in use", url, err)
	}
	b, err := json.Marshal(cached{FetchedAt: now.UTC().Truncate(time.Second), URL: url, Models: models})
	if err != nil {
		return nil, err
	}
	path := CachePath(home)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep model catalogue: %w", err)
	}
	if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
		return nil, fmt.Errorf("keep model catalogue: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return nil, fmt.Errorf("keep model catalogue: %w", err)
	}
	return Open(home)
}

func fetch(ctx context.Context, client *http.Client, url string, known func(string) bool) ([]Model, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", resp.Status)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, mostList+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostList {
		return nil, fmt.Errorf("it is larger than %d MB", mostList>>20)
	}
	var list map[string]struct {
		Models map[string]struct {
			Limit struct{ Context, Output int }
			Cost  *struct {
				Input, Output float64
				CacheRead     float64 `json:"cache_read"`
			}
		}
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("it is no list of models: %w", err)
	}
	var out []Model
	for id, p := range list {
		name := ourName(id)
		if !known(name) {
			continue
		}
		for id, m := range p.Models {
			n := Model{Provider: name, ID: id, Window: m.Limit.Context, MaxOutput: m.Limit.Output}
			if m.Cost != nil {
				n.Priced, n.In, n.Out, n.Cached = true, m.Cost.Input, m.Cost.Output, m.Cost.CacheRead
			}
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it lists no model of a service that is known here")
	}
	slices.SortFunc(out, func(a, b Model) int {
		return strings.Compare(a.Provider+"\x00"+a.ID, b.Provider+"\x00"+b.ID)
	})
	return slices.CompactFunc(out, func(a, b Model) bool { return a.Provider == b.Provider && a.ID == b.ID }), nil
}
