package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/hermes-go/hermes/chat"
	"github.com/hermes-go/hermes/internal/agent"
	"github.com/hermes-go/hermes/internal/effect"
	"github.com/hermes-go/hermes/internal/store"
)

// transcript is the loop's view of the store, with drafts beside it: plain
// files, because an answer arrives in hundreds of pieces and each must survive
// the death of the process, which a write alone is enough for.
type transcript struct {
	app *App

	mu     sync.Mutex
	drafts map[string]*os.File // of the sessions that are held
	told   bool                // that drafts cannot be kept
}

var (
	_ agent.Transcript = (*transcript)(nil)
	_ agent.Journal    = (*transcript)(nil)
)

func (t *transcript) Append(ctx context.Context, id string, m ...chat.Message) error {
	_, err := t.append(ctx, id, store.Beside{}, m)
	return err
}

// Plan implements agent.Journal. While the database is in trouble messages are
// kept, and the record of effects has a gap.
func (t *transcript) Plan(ctx context.Context, id string, begin []effect.Effect, m ...chat.Message) ([]effect.Effect, error) {
	return t.append(ctx, id, store.Beside{Begin: begin}, m)
}

// Mark implements agent.Journal.
func (t *transcript) Mark(ctx context.Context, id string, marks []effect.Mark, m ...chat.Message) error {
	_, err := t.append(ctx, id, store.Beside{Mark: marks}, m)
	return err
}

// States implements agent.Journal.
func (t *transcript) States(ctx context.Context, id string, calls []string) (map[string]effect.State, error) {
	db, err := t.app.DB()
	if err != nil {
		return nil, err
	}
	return db.EffectStates(ctx, id, calls)
}

func (t *transcript) append(ctx context.Context, id string, b store.Beside, m []chat.Message) ([]effect.Effect, error) {
	db, err := t.app.DB()
	if err != nil {
		return nil, err
	}
	b.Spent = t.app.book.take(id)
	earlier, err := db.AppendBeside(ctx, id, b, m...)
	t.app.book.landed(id, len(b.Spent), err == nil)
	if err := t.app.goOn(err); err != nil {
		return nil, err
	}
	if len(m) == 0 {
		return earlier, nil
	}
	return earlier, t.Draft(id, "")
}

// draftIn says where the drafts of a session are kept; nil: no longer.
func (t *transcript) draftIn(id string, f *os.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drafts[id] = f; f == nil {
		delete(t.drafts, id)
	}
}

var errNotHeld = errors.New("its file could not be locked")

// Draft keeps a piece of an answer. One that cannot be kept is told, once, and
// shown all the same: the finished answer is stored or spooled as a whole.
func (t *transcript) Draft(id, piece string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.drafts[id]
	switch {
	case f == nil && piece == "":
		return nil
	case f == nil:
		return t.undrafted(fmt.Errorf("keep draft: %w", errNotHeld))
	case piece != "":
		if _, err := f.WriteString(piece); err != nil {
			return t.undrafted(fmt.Errorf("keep draft: %w", err))
		}
		return nil
	}
	if err := empty(f); err != nil {
		return t.undrafted(fmt.Errorf("remove draft: %w", err))
	}
	return nil
}

// empty makes a file what it was when it was made. Most answers are calls of
// tools and have left nothing in it.
func empty(f *os.File) error {
	if at, err := f.Seek(0, io.SeekCurrent); err == nil && at == 0 {
		return nil
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.Seek(0, io.SeekStart)
	return err
}

func (t *transcript) undrafted(err error) error {
	if !t.told {
		t.told = true
		t.app.Log.Warn("draft", "err", err)
		t.app.Notice(fmt.Sprintf("an answer that is still arriving cannot be kept (%v); only if the program dies in its middle, that part is lost", err))
	}
	return nil
}

// goOn lets pass that the database is in trouble: the store has told the person
// what became of the messages.
func (a *App) goOn(err error) error {
	if _, trouble := errors.AsType[*store.Trouble](err); trouble {
		a.Log.Warn("session store", "err", err)
		return nil
	}
	return err
}

func (a *App) draftPath(id string) string {
	return filepath.Join(a.Home, "sessions", "drafts", filepath.Base(id)+".txt")
}

// adoptDraft stores what an answer had said when its process died. It looks
// only at sessions that are held: another's draft is alive.
func (a *App) adoptDraft(ctx context.Context, db *store.DB, id string) (*chat.Message, error) {
	a.transcript.mu.Lock()
	f := a.transcript.drafts[id]
	a.transcript.mu.Unlock()
	if f == nil {
		return nil, nil
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read draft: %w", err)
	}
	if len(text) == 0 {
		return nil, nil
	}
	m := chat.AssistantText(chat.ValidUTF8(string(text)))
	m.FinishReason = chat.FinishCut
	if err := a.goOn(db.Append(ctx, id, m)); err != nil {
		return nil, err
	}
	if err := empty(f); err != nil {
		return nil, fmt.Errorf("remove draft: %w", err)
	}
	return &m, nil
}
