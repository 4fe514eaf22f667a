//go:build !unix

package store

func isReadOnlyFS(error) bool { return false }

func isNoSpace(error) bool { return false }
