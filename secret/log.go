package secret

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// NewLogHandler wraps a handler so that nothing secret reaches it: messages,
// attribute values of any kind, and whatever stands under a name such as token.
func NewLogHandler(next slog.Handler, r *Redactor) slog.Handler { return &logHandler{next, r} }

type logHandler struct {
	next slog.Handler
	r    *Redactor
}

var _ slog.Handler = (*logHandler)(nil)

func (h *logHandler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h *logHandler) Handle(ctx context.Context, rec slog.Record) error {
	out := slog.NewRecord(rec.Time, rec.Level, h.r.Redact(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return &logHandler{h.next.WithAttrs(clean), h.r}
}

func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{h.next.WithGroup(name), h.r}
}

func (h *logHandler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		if c := class(a.Key); (c >= tokenName || holdsSecret(a.Key)) && v.String() != "" {
			return slog.String(a.Key, "***")
		}
		return slog.String(a.Key, h.r.Redact(v.String()))
	case slog.KindGroup:
		group := v.Group()
		clean := make([]slog.Attr, len(group))
		for i, g := range group {
			clean[i] = h.attr(g)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(clean...)}
	case slog.KindAny:
		return slog.Attr{Key: a.Key, Value: h.anyValue(v.Any())}
	}
	return slog.Attr{Key: a.Key, Value: v}
}

// anyValue keeps a value whose printed forms are both clean, so that a JSON
// handler still sees its structure, and becomes text otherwise.
func (h *logHandler) anyValue(v any) slog.Value {
	if err, ok := v.(error); ok && err != nil {
		return slog.StringValue(h.r.Redact(fmt.Sprint(err))) // Sprint survives a nil inside
	}
	printed := fmt.Sprintf("%+v", v)
	clean := h.r.Redact(printed)
	if b, err := json.Marshal(v); err == nil {
		if c := h.r.RedactBytes(b); string(c) != string(b) {
			return slog.StringValue(string(c))
		}
	}
	if clean != printed {
		return slog.StringValue(clean)
	}
	return slog.AnyValue(v)
}
