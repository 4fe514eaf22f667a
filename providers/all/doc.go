// Package all links every provider of this module into a program that imports it.
// The list beside this file is generated: a folder of providers/ that registers
// itself is in it.
package all

//go:generate go run ../../internal/genall
