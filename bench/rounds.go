package main

import (
	"fmt"
	"strconv"
	"time"
)

// rounds measures what a tool round costs beyond the exchange with the model:
// the time between an answer and the next request, as the server sees it,
// against that of a client that does nothing in between. Each round stores two
// messages.
func (b *bench) rounds() ([]result, error) {
	var read, terminal, bare, bash []time.Duration
	for range 5 {
		for _, script := range []string{"read", "terminal"} {
			if err := b.configure(script); err != nil {
				return nil, err
			}
			b.server.reset()
			if _, err := b.timed(b.hermes, "chat", "-q", "go on"); err != nil {
				return nil, err
			}
			size, requests := b.server.sizes()
			if requests != roundsPlayed+1 {
				return nil, fmt.Errorf("%s: %d requests, want %d: the rounds did not run", script, requests, roundsPlayed+1)
			}
			if script == "read" {
				read = append(read, b.server.taken()...)
			} else {
				terminal = append(terminal, b.server.taken()...)
			}
			b.server.reset()
			if _, err := b.timed(b.exchange, b.server.url+"/hi/v1/chat/completions", strconv.Itoa(size), strconv.Itoa(roundsPlayed)); err != nil {
				return nil, err
			}
			bare = append(bare, b.server.taken()...)
		}
		for range 30 {
			s, err := b.timed("bash", "-c", "true")
			if err != nil {
				return nil, err
			}
			bash = append(bash, s)
		}
	}
	r, t, x, sh := median(read), median(terminal), median(bare), median(bash)
	return []result{
		{"read_file round, above the bare exchange", ms(r - x), 2, "ms", fmt.Sprintf("%.2f ms - %.2f ms, medians of %d", ms(r), ms(x), len(read))},
		{"terminal true round, above bare bash and the exchange", ms(t - x - sh), 1, "ms", fmt.Sprintf("%.2f ms - %.2f ms - %.2f ms", ms(t), ms(x), ms(sh))},
	}, nil
}
