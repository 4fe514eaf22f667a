package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Fault is a kind of trouble with the file that a chat goes on in spite of.
type Fault string

// The faults.
const (
	Damaged      Fault = "damaged"       // pages of the file are broken: Repair mends it
	IndexDamaged Fault = "index damaged" // only the search index is: Repair makes it anew
	Full         Fault = "disk full"
	ReadOnly     Fault = "read-only"
	Unreachable  Fault = "unreachable" // cannot be opened, or reading and writing fails
	Gone         Fault = "gone"        // somebody deleted the file while it was open
)

// Trouble is what a person should know about the database: what is wrong, what
// became of the messages and what to do. Options.Notice receives it.
type Trouble struct {
	Fault Fault
	Path  string
	Spool string // where messages are kept meanwhile, "" if nothing was lost or nothing could be kept
	Err   error  // what SQLite or the system said
	lost  bool   // messages could be kept nowhere
}

// Error says it in a sentence for a person.
func (t *Trouble) Error() string {
	kept := ""
	switch {
	case t.lost:
		kept = "; what is said now is kept nowhere and ends with the program"
	case t.Spool != "":
		kept = "; messages are kept in " + t.Spool
	}
	switch t.Fault {
	case Damaged:
		return fmt.Sprintf("session database %s is damaged%s; mend it with: hermes sessions repair", t.Path, kept)
	case IndexDamaged:
		return fmt.Sprintf("the search index of %s is damaged: messages are stored, searching is slow; mend it with: hermes sessions repair", t.Path)
	case Full:
		return fmt.Sprintf("no space left for session database %s%s; free some space and go on", t.Path, kept)
	case ReadOnly:
		return fmt.Sprintf("session database %s cannot be written%s; check its owner and mode", t.Path, kept)
	case Gone:
		return fmt.Sprintf("session database %s was deleted while in use and has been put back", t.Path)
	}
	return fmt.Sprintf("session database %s cannot be used%s: %v", t.Path, kept, t.Err)
}

// Unwrap returns the cause.
func (t *Trouble) Unwrap() error { return t.Err }

// fault classifies an error of the file; "" is for all other errors, which
// mean what they say.
func fault(err error) Fault {
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE {
		return Full // there was no room for the list of what the log holds
	}
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return Damaged
	case sqlite3.SQLITE_FULL:
		return Full
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return ReadOnly
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		return Unreachable
	}
	switch {
	case errors.Is(err, fs.ErrPermission), isReadOnlyFS(err):
		return ReadOnly
	case isNoSpace(err):
		return Full
	}
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return Unreachable
	}
	return ""
}

// tell reports trouble, each kind once until it has passed. It wants d.mu held.
func (d *DB) tell(t *Trouble) {
	if d.told[t.Fault] {
		return
	}
	d.told[t.Fault] = true
	d.log.Warn("session database in trouble", "fault", string(t.Fault), "path", t.Path, "spool", t.Spool, "err", t.Err)
	if d.opt.Notice != nil {
		d.opt.Notice(t)
	}
}

// Trouble returns what is wrong now, or nil.
func (d *DB) Trouble() *Trouble {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.trouble
}
