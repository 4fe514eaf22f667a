package tool

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// ErrNoService is wrapped by Use when nobody provides the service.
var ErrNoService = errors.New("not available in this context")

// Services holds what tools may use, by interface type: a session's own
// services first, then those of the app. The zero value is not usable; see
// NewServices.
type Services struct {
	parent *Services

	mu sync.RWMutex
	by map[reflect.Type]any
}

// NewServices makes an empty set that falls back to parent, which may be nil.
func NewServices(parent *Services) *Services {
	return &Services{parent: parent, by: map[reflect.Type]any{}}
}

// ProvideAs offers v under the interface I. Providing again replaces.
func ProvideAs[I any](s *Services, v I) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by[reflect.TypeFor[I]()] = v
}

// Use returns the service I; the error wraps ErrNoService and names it.
func Use[I any](s *Services) (I, error) {
	if v, ok := s.find(reflect.TypeFor[I]()); ok {
		return v.(I), nil
	}
	var zero I
	return zero, fmt.Errorf("%s: %w", reflect.TypeFor[I](), ErrNoService)
}

func (s *Services) find(t reflect.Type) (any, bool) {
	for ; s != nil; s = s.parent {
		s.mu.RLock()
		v, ok := s.by[t]
		s.mu.RUnlock()
		if ok {
			return v, true
		}
	}
	return nil, false
}

// app returns the outermost set: what does not depend on a session.
func (s *Services) app() *Services {
	for s != nil && s.parent != nil {
		s = s.parent
	}
	return s
}

// Need is a service that a tool cannot do without. A session that lacks it
// does not show the tool.
type Need struct {
	service reflect.Type
	refusal string
}

// Needs declares that a tool needs the service I.
func Needs[I any]() Need { return Need{service: reflect.TypeFor[I]()} }

// Refusing sets what a call answers when the service is missing; a %s stands
// for the tool's name.
func (n Need) Refusing(format string) Need {
	n.refusal = format
	return n
}

// String names the service.
func (n Need) String() string { return n.service.String() }

func (n Need) missing(s *Services, tool string) error {
	if _, ok := s.find(n.service); ok {
		return nil
	}
	if n.refusal != "" {
		return fmt.Errorf(n.refusal, tool)
	}
	return fmt.Errorf("%s needs %s, which is not available in this context", tool, n.service)
}
