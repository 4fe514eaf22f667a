package provider

import (
	"fmt"
	"time"
)

// Class says what kind of failure an Error is, and so what may be done.
type Class string

// The classes, named as in the original's records.
const (
	ClassAuth            Class = "auth"
	ClassBilling         Class = "billing"
	ClassRateLimit       Class = "rate_limit"
	ClassOverloaded      Class = "overloaded"
	ClassServer          Class = "server_error"
	ClassTimeout         Class = "timeout" // also connection failures and cut streams
	ClassContextOverflow Class = "context_overflow"
	ClassPayloadTooLarge Class = "payload_too_large"
	ClassModelNotFound   Class = "model_not_found"
	ClassPolicy          Class = "provider_policy_blocked"
	ClassFormat          Class = "format_error"
	ClassSignature       Class = "thinking_signature"
	ClassGrammar         Class = "llama_cpp_grammar_pattern"
	ClassInvalid         Class = "invalid_response" // e.g. no choices in an answer
	ClassUnknown         Class = "unknown"
)

// Error is a failure of a service, classified once at the wire.
type Error struct {
	Class      Class
	Status     int           // HTTP status, 0 when there was no answer
	RetryAfter time.Duration // 0 when the service named none
	Code       string        // the service's own error code
	Message    string        // the service's own words, shortened; no HTML
	Window     int           // context window named by an overflow, 0 when none
	Available  int           // output tokens an overflow says are left, 0 when none
	ToolIndex  int           // index of the tool definition the service refused, -1 when none
	Partial    bool          // text had been delivered before the failure
	Attempts   int           // how often the request was sent, set by Retrying
	OtherKey   bool          // set by Pool: asking again may go out with a key that works
	Param      string        // the request field that the service refused, as it names it
	Err        error         // cause, may be nil
}

func (e *Error) Error() string {
	text := e.Message
	if text == "" && e.Err != nil {
		text = e.Err.Error()
	}
	if text == "" {
		text = string(e.Class)
	}
	if e.Status != 0 {
		text = fmt.Sprintf("HTTP %d: %s", e.Status, text)
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (tried %d times)", e.Attempts)
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Class {
	case ClassRateLimit, ClassOverloaded, ClassServer, ClassTimeout, ClassInvalid, ClassUnknown:
		return true
	}
	return false
}

// RotatesKey reports whether another key may help.
func (e *Error) RotatesKey() bool {
	switch e.Class {
	case ClassAuth, ClassBilling, ClassRateLimit:
		return true
	}
	return false
}

// FallsBack reports whether another provider may help.
func (e *Error) FallsBack() bool {
	switch e.Class {
	case ClassContextOverflow, ClassPayloadTooLarge, ClassSignature, ClassGrammar:
		return false
	}
	return true
}
