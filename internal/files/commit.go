package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hermes-go/hermes/backend"
)

// Step is what becomes of one file in a set that changes as a whole.
type Step struct {
	Was    *Current
	To     *Current    // where the file moves to; nil: it stays
	Data   []byte      // the new content; nil when it is removed or only moved
	Remove bool        // the file goes
	Mode   fs.FileMode // 0: as it was
}

// pure tells of a step that a crash cannot cut in two.
func (s Step) pure() bool { return s.To == nil || s.Data == nil }

// Commit carries out all steps or none. Each file is replaced as a whole, so
// that it is old or new at every moment; a step that fails takes the ones
// before it back. What a killed process leaves between is written down before
// the first step and put back by the next process that opens these files. A
// context that ends does not cut it off.
func (v *View) Commit(ctx context.Context, steps []Step) error {
	var names []string
	for _, s := range steps {
		names = append(names, s.Was.Real)
		if s.To != nil {
			names = append(names, s.To.Real)
		}
	}
	v.before(ctx, names...)
	ctx = context.WithoutCancel(ctx)
	for _, s := range steps {
		if err := v.ready(ctx, s); err != nil {
			return err
		}
	}
	var j *journal
	if len(steps) > 1 || !steps[0].pure() {
		var err error
		if j, err = v.note(ctx, steps); err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	for i, s := range steps {
		err := v.take(ctx, s)
		if err == nil {
			continue
		}
		lost := v.takeBack(ctx, steps[:i], s)
		if len(lost) > 0 {
			kept := ""
			if j != nil {
				kept = "; their former content is in " + j.path
			}
			return fmt.Errorf("%w; the changes before it could not all be taken back, state is inconsistent: %s%s", err, strings.Join(lost, "; "), kept)
		}
		j.drop(ctx, v)
		return fmt.Errorf("%w; no files were modified: what had been changed was put back", err)
	}
	j.drop(ctx, v)
	return nil
}

// ready finds out what can be known before anything is touched.
func (v *View) ready(ctx context.Context, s Step) error {
	if err := v.unchanged(ctx, s.Was); err != nil {
		return err
	}
	if s.To != nil {
		if err := v.unchanged(ctx, s.To); err != nil {
			return err
		}
	}
	return nil
}

// take carries out one step.
func (v *View) take(ctx context.Context, s Step) error {
	switch {
	case s.Remove:
		if err := v.FS.Remove(ctx, s.Was.Real); err != nil {
			return v.explain(s.Was.Path, err)
		}
		if _, err := v.FS.Lstat(ctx, s.Was.Real); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is still there after it was removed", s.Was.Given)
		}
		v.gone(s.Was.Real)
		return nil
	case s.To != nil:
		if err := v.move(ctx, s.Was.Real, s.To.Real); err != nil {
			return fmt.Errorf("move %s to %s: %w", s.Was.Given, s.To.Given, bare(err))
		}
		data := s.Data
		if data == nil {
			data = s.Was.Data
		} else if err := v.FS.WriteFile(ctx, s.To.Real, data, backend.WriteOptions{Mode: s.Mode}); err != nil {
			return v.explain(s.To.Path, err)
		}
		if err := v.verify(ctx, s.To.Path, data); err != nil {
			return err
		}
		v.gone(s.Was.Real)
		v.Wrote(s.To.Real, PrintOf(data), true)
		v.made(s.To.Real, data)
		return nil
	}
	saved, err := v.save(ctx, s.Was, s.Data, s.Mode)
	if err == nil {
		v.Wrote(s.Was.Real, saved.Print, !s.Was.Exists)
	}
	return err
}

func (v *View) move(ctx context.Context, from, to string) error {
	err := v.FS.Rename(ctx, from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if err := v.FS.Mkdir(ctx, v.Dir(to)); err != nil {
			return err
		}
		err = v.FS.Rename(ctx, from, to)
	}
	return err
}

// takeBack undoes the steps that were taken, the last first, and the one that
// failed as far as it came. It says what it could not undo.
func (v *View) takeBack(ctx context.Context, taken []Step, failed Step) (lost []string) {
	try := func(s Step, u undo) {
		if err := v.undo(ctx, u); err != nil {
			lost = append(lost, fmt.Sprintf("%s: %v", s.Was.Given, bare(err)))
		}
	}
	u := undoOf(failed)
	// What stands in the place of a file that was to be made is not ours.
	if is := v.standing(ctx, u); is != isOld && (is != isOther || u.Existed) {
		try(failed, u)
	}
	for i := len(taken) - 1; i >= 0; i-- {
		try(taken[i], undoOf(taken[i]))
	}
	return lost
}

// undo brings one file back to what it was, from wherever it is now.
func (v *View) undo(ctx context.Context, u undo) error {
	if u.To != "" {
		_, err := v.FS.Lstat(ctx, u.To)
		switch {
		case err == nil:
			if err := v.move(ctx, u.To, u.Path); err != nil {
				return err
			}
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if !u.Existed {
		err := v.FS.Remove(ctx, u.Path)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		v.gone(u.Path)
		return err
	}
	if now, err := v.bytesOf(ctx, u.Path); err == nil && string(now) == string(u.Old) {
		return nil
	}
	err := v.FS.WriteFile(ctx, u.Path, u.Old, backend.WriteOptions{Mode: u.Mode})
	if err == nil {
		v.Wrote(u.Path, PrintOf(u.Old), false)
	}
	return err
}

func (v *View) bytesOf(ctx context.Context, name string) ([]byte, error) {
	f, err := v.FS.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	return ReadAll(ctx, f, 0, MaxEdit)
}
