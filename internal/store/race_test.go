//go:build race

package store

// racing says that the race detector watches: SQLite, being Go code, is watched
// too, at a tenth of its speed.
const racing = true
