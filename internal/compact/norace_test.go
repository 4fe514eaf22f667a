//go:build !race

package compact

// slow is how much longer things take under the race detector.
const slow = 1
