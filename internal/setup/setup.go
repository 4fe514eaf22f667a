// Package setup holds what the administration commands decide: the checks of
// doctor, the questions of the wizard, logins, local model servers, profiles,
// logs. It reads what parts of the program declare about themselves and changes
// files of the home; it prints nothing, and asking a person is the caller's
// matter.
package setup
