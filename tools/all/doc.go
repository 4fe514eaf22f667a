// Package all links every tool of this module into a program that imports it.
// The list beside this file is generated: a folder of tools/ that registers
// itself is in it.
package all

//go:generate go run ../../internal/genall
