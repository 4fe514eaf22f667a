package store

// CleanTitle is the form in which a title would be stored; the error wraps
// ErrTitle. Whether another session has it is not looked up.
func CleanTitle(title string) (string, error) { return cleanTitle(title) }
