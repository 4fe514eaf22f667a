// Package skills holds the skills that ship with the program, embedded as the
// directories that authors see. It does not bring them anywhere: internal/skill
// seeds them into a home.
package skills

import "embed"

// Bundled are the skills, by category. The pages say what to do; scripts are
// made executable when they are copied.
//
//go:embed apple data-science documents email github hermes media note-taking productivity research software-development system
var Bundled embed.FS
