package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Report is what a restore did, as it was found afterwards.
type Report struct {
	Tree     string   `json:"tree"`
	To       Snapshot `json:"to"`
	Saved    string   `json:"saved_as"` // the snapshot of what was there before
	Restored []string `json:"restored"`
	Removed  []string `json:"removed"` // made by the agent since, unchanged by others
	Left     []string `json:"left"`    // made since by commands or people
	Failed   []string `json:"failed"`  // and why
	NotSaved []string `json:"not_saved"`
}

// intent is what is written down before the first file is touched, so that the
// next start can finish what a kill cut short.
type intent struct {
	Tree string `json:"tree"`
	To   string `json:"to"`
	From string `json:"from"`
	File string `json:"file,omitempty"`
}

const intentName = "restoring-"

// Restore brings the tree that dir belongs to, or one file of it, back to a
// snapshot. What is there now is saved first.
func (s *Store) Restore(ctx context.Context, dir, ref, file string) (Report, error) {
	r, err := s.find(ctx, dir)
	if err != nil {
		return Report{}, err
	}
	defer r.close()
	to, err := r.pick(ctx, ref)
	if err != nil {
		return Report{}, err
	}
	if file, err = r.local(dir, file); err != nil {
		return Report{}, err
	}
	from, err := r.snapshot(ctx, "before rollback to "+to.Short, nil)
	if err != nil {
		return Report{}, fmt.Errorf("what is there now could not be saved, so nothing was changed: %w", err)
	}
	note := intent{Tree: r.tree, To: to.Hash, From: from, File: file}
	if err := r.note(note); err != nil {
		return Report{}, fmt.Errorf("nothing was changed: %w", err)
	}
	s.step("noted")
	ctx = context.WithoutCancel(ctx) // from here on it is finished
	rep, err := r.apply(ctx, note)
	if err != nil {
		return rep, fmt.Errorf("%w; what was there before is checkpoint %.8s", err, from)
	}
	rep.To, rep.Saved = to, from
	return rep, r.done()
}

// Recover finishes the restores that a kill cut short. It costs one look into
// a directory.
func (s *Store) Recover(ctx context.Context) ([]Report, error) {
	list, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Report
	errs := []error{err}
	for _, d := range list {
		if !strings.HasPrefix(d.Name(), intentName) || strings.HasSuffix(d.Name(), ".tmp") {
			continue
		}
		rep, err := s.recoverOne(ctx, filepath.Join(s.Dir, d.Name()))
		errs = append(errs, err)
		if rep.Tree != "" {
			all = append(all, rep)
		}
	}
	return all, errors.Join(errs...)
}

func (s *Store) recoverOne(ctx context.Context, path string) (Report, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Report{}, nil // somebody else has finished it
	}
	var note intent
	if err == nil {
		err = json.Unmarshal(b, &note)
	}
	if err != nil {
		return Report{}, fmt.Errorf("read %s: %w", path, err)
	}
	r, err := s.open(ctx, note.Tree, false)
	if err != nil {
		return Report{}, fmt.Errorf("a rollback of %s was cut short and could not be finished: %w", note.Tree, err)
	}
	defer r.close()
	if _, err := os.Stat(path); err != nil {
		return Report{}, nil // whoever did it has finished while we waited
	}
	rep, err := r.apply(context.WithoutCancel(ctx), note)
	if err != nil {
		return rep, err
	}
	rep.Saved = note.From
	return rep, r.done()
}

func (r *repo) intentPath() string {
	return filepath.Join(r.s.Dir, intentName+filepath.Base(r.dir)+".json")
}

func (r *repo) note(n intent) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	path := r.intentPath()
	if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func (r *repo) done() error { return os.Remove(r.intentPath()) }

// change is one path that differs between two snapshots.
type change struct {
	path             string
	nowMode, toMode  string
	nowBlob, toBlob  string
	nowThere, toHave bool
}

func (r *repo) changes(ctx context.Context, n intent) ([]change, error) {
	args := []string{"diff-tree", "-r", "-z", "--no-renames", "--raw", n.From, n.To}
	if n.File != "" {
		args = append(args, "--", n.File)
	}
	out, err := r.run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(out), "\x00")
	var all []change
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-tree answered %q", fields[i])
		}
		all = append(all, change{
			path: fields[i+1], nowMode: f[0], toMode: f[1], nowBlob: f[2], toBlob: f[3], nowThere: f[0] != "000000", toHave: f[1] != "000000",
		})
	}
	return all, nil
}

// apply makes the tree what the intent says. Done twice it does no harm: what
// is as it should be is left, and what somebody changed meanwhile too.
func (r *repo) apply(ctx context.Context, n intent) (Report, error) {
	rep := Report{Tree: r.tree}
	changes, err := r.changes(ctx, n)
	if err != nil {
		return rep, err
	}
	made, err := r.made()
	if err != nil {
		return rep, err
	}
	modes, err := r.modes(ctx)
	if err != nil {
		return rep, err
	}
	root, err := os.OpenRoot(r.tree) // no link leads out of it
	if err != nil {
		return rep, err
	}
	defer func() { _ = root.Close() }() // opened for reading
	for _, c := range changes {         // room first
		if c.toHave {
			continue
		}
		removed, err := r.remove(root, c, made)
		switch {
		case err != nil:
			rep.Failed = append(rep.Failed, fmt.Sprintf("%s: %v", c.path, bare(err)))
		case removed:
			rep.Removed = append(rep.Removed, c.path)
		default:
			rep.Left = append(rep.Left, c.path)
		}
		r.s.step("removed")
	}
	blobs, err := r.blobs(ctx)
	if err != nil {
		return rep, err
	}
	for _, c := range changes {
		if !c.toHave {
			continue
		}
		if err := r.bring(blobs, root, c, modes); err != nil {
			rep.Failed = append(rep.Failed, fmt.Sprintf("%s: %v", c.path, bare(err)))
			continue
		}
		rep.Restored = append(rep.Restored, c.path)
		r.s.step("restored")
	}
	closed := blobs.close()
	rep.NotSaved, err = r.notSaved(ctx, n.To)
	return rep, errors.Join(closed, err, r.check(ctx, n, &rep))
}

// remove takes away a file that was made since, if the agent made it and
// nobody has changed it.
func (r *repo) remove(root *os.Root, c change, made map[string]string) (bool, error) {
	name := filepath.FromSlash(c.path)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return made[c.path] != "", nil // an earlier try came this far
	}
	if err != nil {
		return false, err
	}
	if made[c.path] == "" || !info.Mode().IsRegular() {
		return false, nil
	}
	data, err := root.ReadFile(name)
	if err != nil || sumOf(data) != made[c.path] {
		return false, err
	}
	if err := root.Remove(name); err != nil {
		return false, err
	}
	for dir := path.Dir(c.path); dir != "."; dir = path.Dir(dir) {
		if root.Remove(filepath.FromSlash(dir)) != nil { // not empty: it stays
			break
		}
	}
	return true, nil
}

// bring puts one file back, beside and renamed, unless it has been changed
// since it was saved.
func (r *repo) bring(files *blobs, root *os.Root, c change, modes map[string]fs.FileMode) error {
	if c.toMode == "160000" {
		return errors.New("it is a repository of its own, which is not saved")
	}
	want, err := files.get(c.toBlob)
	if err != nil {
		return err
	}
	name := filepath.FromSlash(c.path)
	if err := plainParents(root, c.path); err != nil {
		return err
	}
	link := c.toMode == "120000"
	mode := fs.FileMode(0o644)
	if c.toMode == "100755" {
		mode = 0o755
	}
	if m, ok := modes[c.path]; ok {
		mode = m
	}
	info, err := root.Lstat(name)
	switch {
	case missing(err):
		line, err := json.Marshal(written{c.path, sumOf(want)}) // made by us: the way back may remove it
		if err == nil {
			err = appendLine(filepath.Join(r.dir, madeFile), line)
		}
		if err != nil {
			return err
		}
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("there is a directory in its place now, with files that nobody asked to remove")
	default:
		is, err := contentOf(root, name, info)
		if err != nil {
			return err
		}
		isLink := info.Mode().Type() == fs.ModeSymlink
		if isLink == link && bytes.Equal(is, want) && (link || info.Mode().Perm()&0o111 != 0 == (c.toMode == "100755")) {
			return nil
		}
		if c.nowThere {
			now, err := files.get(c.nowBlob)
			if err != nil {
				return err
			}
			half := isLink == link && bytes.Equal(is, want) // only its mode is missing
			if !half && (isLink != (c.nowMode == "120000") || !bytes.Equal(is, now)) {
				return errors.New("somebody changed it meanwhile; it was left as it is")
			}
		} else {
			return errors.New("somebody made it meanwhile; it was left as it is")
		}
		if !isLink && c.nowMode == c.toMode {
			mode = info.Mode().Perm()
		}
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(name), ".hermes-restore-"+filepath.Base(name))
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if link {
		err = root.Symlink(string(want), tmp)
	} else if err = root.WriteFile(tmp, want, 0o600); err == nil {
		err = root.Chmod(tmp, mode)
	}
	r.s.step("written")
	if err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(tmp))
	}
	return nil
}

// plainParents makes sure that no link stands where a directory was.
func plainParents(root *os.Root, name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(filepath.FromSlash(dir))
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is no directory now", dir)
		}
		if err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

func contentOf(root *os.Root, name string, info fs.FileInfo) ([]byte, error) {
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		to, err := root.Readlink(name)
		return []byte(to), err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is a device, a pipe or a socket now")
	}
	return root.ReadFile(name)
}

// modes are the unusual modes that files had when they were saved.
func (r *repo) modes(ctx context.Context) (map[string]fs.FileMode, error) {
	all, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	modes := map[string]fs.FileMode{}
	for _, s := range slices.Backward(all) {
		for _, line := range s.notes {
			rest, ok := strings.CutPrefix(line, "mode ")
			if !ok {
				continue
			}
			perm, name, _ := strings.Cut(rest, " ")
			if m, err := strconv.ParseUint(perm, 8, 32); err == nil {
				modes[name] = fs.FileMode(m).Perm()
			}
		}
	}
	return modes, nil
}

// notSaved lists what a snapshot says it left out.
func (r *repo) notSaved(ctx context.Context, hash string) ([]string, error) {
	out, err := r.run(ctx, nil, "log", "-1", "--format=%B", hash)
	if err != nil {
		return nil, err
	}
	var left []string
	for line := range strings.Lines(string(out)) {
		kind, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && (kind == "large" || kind == "nested" || kind == "unreadable") {
			left = append(left, name+" ("+kind+")")
		}
	}
	return left, nil
}

// check looks at the tree as it is now and says of each path that was to be
// restored whether it was.
func (r *repo) check(ctx context.Context, n intent, rep *Report) error {
	if _, err := r.stage(ctx, rep.Restored); err != nil {
		return err
	}
	now, err := r.writeTree(ctx)
	if err != nil {
		return err
	}
	still, err := r.changes(ctx, intent{From: now, To: n.To, File: n.File})
	if err != nil {
		return err
	}
	differs := map[string]bool{}
	for _, c := range still {
		differs[c.path] = c.toHave
	}
	rep.Restored = slices.DeleteFunc(rep.Restored, func(p string) bool {
		if differs[p] {
			rep.Failed = append(rep.Failed, p+": it is not what was restored")
		}
		return differs[p]
	})
	return nil
}

func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
