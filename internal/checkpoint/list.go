package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Snapshot is a tree as it was at a time.
type Snapshot struct {
	Hash       string    `json:"hash"`
	Short      string    `json:"short_hash"`
	Time       time.Time `json:"timestamp"`
	Reason     string    `json:"reason"`
	Files      int       `json:"files_changed"` // against the one before
	Insertions int       `json:"insertions"`
	Deletions  int       `json:"deletions"`

	notes []string
}

// List returns the snapshots of the tree a directory belongs to, the newest
// first; none is no error.
func (s *Store) List(ctx context.Context, dir string) (tree string, all []Snapshot, err error) {
	r, err := s.find(ctx, dir)
	if errors.Is(err, errNothing) {
		return s.Tree(dir), nil, nil
	}
	if err != nil {
		return s.Tree(dir), nil, err
	}
	defer r.close()
	all, err = r.list(ctx)
	return r.tree, all, err
}

// find opens the store of the tree that a directory belongs to.
func (s *Store) find(ctx context.Context, dir string) (*repo, error) {
	tree := s.Tree(dir)
	if tree == "" {
		return nil, fmt.Errorf("%s: %w", dir, errNothing)
	}
	return s.open(ctx, tree, false)
}

func (r *repo) list(ctx context.Context) ([]Snapshot, error) {
	if head, _, err := r.head(ctx); err != nil || head == "" {
		return nil, err
	}
	out, err := r.run(ctx, nil, "log", "--no-color", "--no-renames", "--shortstat", "--format=%x00%H%n%ct%n%B%x01", "HEAD")
	if err != nil {
		return nil, err
	}
	var all []Snapshot
	for _, part := range strings.Split(string(out), "\x00")[1:] {
		head, stat, _ := strings.Cut(part, "\x01")
		lines := strings.Split(head, "\n")
		if len(lines) < 3 {
			return nil, fmt.Errorf("the store of %s has a snapshot that cannot be read: %.60q", r.tree, head)
		}
		sec, err := strconv.ParseInt(lines[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the store of %s has a snapshot without a time: %w", r.tree, err)
		}
		snap := Snapshot{Hash: lines[0], Short: lines[0][:8], Time: time.Unix(sec, 0), Reason: lines[2], notes: lines[3:]}
		for field := range strings.SplitSeq(strings.TrimSpace(stat), ",") {
			n, what, _ := strings.Cut(strings.TrimSpace(field), " ")
			v, _ := strconv.Atoi(n) // "" where nothing changed
			switch {
			case strings.HasPrefix(what, "file"):
				snap.Files = v
			case strings.HasPrefix(what, "insertion"):
				snap.Insertions = v
			case strings.HasPrefix(what, "deletion"):
				snap.Deletions = v
			}
		}
		all = append(all, snap)
	}
	return all, nil
}

// pick finds a snapshot by its number in the list, or by the beginning of its
// hash.
func (r *repo) pick(ctx context.Context, ref string) (Snapshot, error) {
	all, err := r.list(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	if n, err := strconv.Atoi(ref); err == nil && n >= 1 && n <= len(all) {
		return all[n-1], nil
	}
	if len(ref) >= 4 && len(ref) <= 64 && strings.Trim(ref, "0123456789abcdef") == "" {
		var found []Snapshot
		for _, s := range all {
			if strings.HasPrefix(s.Hash, ref) {
				found = append(found, s)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	if len(all) == 0 {
		return Snapshot{}, fmt.Errorf("%s: %w", r.tree, errNothing)
	}
	return Snapshot{}, fmt.Errorf("there is no checkpoint %q of %s: give a number from 1 to %d, or a hash of the list", ref, r.tree, len(all))
}

// local makes the name of a file relative to the tree; it must lie inside.
func (r *repo) local(dir, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(real(dir), file)
	}
	rel, err := filepath.Rel(r.tree, filepath.Join(real(filepath.Dir(file)), filepath.Base(file)))
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", fmt.Errorf("%s is not a file below %s", file, r.tree)
	}
	return filepath.ToSlash(rel), nil
}

// Diff shows what has changed since a snapshot: in the whole tree, or in one
// file.
func (s *Store) Diff(ctx context.Context, dir, ref, file string) (string, error) {
	r, err := s.find(ctx, dir)
	if err != nil {
		return "", err
	}
	defer r.close()
	snap, err := r.pick(ctx, ref)
	if err != nil {
		return "", err
	}
	if file, err = r.local(dir, file); err != nil {
		return "", err
	}
	if _, err := r.stage(ctx, nil); err != nil {
		return "", err
	}
	now, err := r.writeTree(ctx)
	if err != nil {
		return "", err
	}
	args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", snap.Hash, now}
	if file != "" {
		args = append(args, "--", file)
	}
	out, err := r.run(ctx, nil, args...)
	return string(out), err
}
