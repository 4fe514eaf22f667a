//go:build !linux

package tty

import "os"

// typedAhead is not known here: a line typed before the program was ready waits
// in the editor for one more Enter.
func typedAhead(*os.File) int { return 0 }
