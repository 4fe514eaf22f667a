package store

// Opener is the service by which tools reach the sessions. The file is opened
// when one asks.
type Opener interface {
	DB() (*DB, error)
}
