// Package all links every backend of this module into a program that imports it.
// The list beside this file is generated: a folder of backends/ that registers
// itself is in it.
package all

//go:generate go run ../../internal/genall
