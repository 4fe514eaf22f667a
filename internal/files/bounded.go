package files

// bounded is a map that holds the newest entries only.
type bounded[K comparable, V any] struct {
	most  int
	by    map[K]V
	order []K // in the order of first putting; may name what was dropped
}

func newBounded[K comparable, V any](most int) *bounded[K, V] {
	return &bounded[K, V]{most: most, by: map[K]V{}}
}

func (b *bounded[K, V]) get(k K) (V, bool) {
	v, ok := b.by[k]
	return v, ok
}

func (b *bounded[K, V]) put(k K, v V) {
	if _, ok := b.by[k]; !ok {
		b.order = append(b.order, k)
	}
	b.by[k] = v
	for len(b.by) > b.most || len(b.order) > 2*b.most {
		delete(b.by, b.order[0])
		b.order = b.order[1:]
	}
}

func (b *bounded[K, V]) drop(k K) { delete(b.by, k) }
