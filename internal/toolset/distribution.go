package toolset

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/hermes-go/hermes/tool"
)

// chance is how often, in percent, a distribution draws a toolset. The draws
// are independent; they need not add up to anything.
type chance struct {
	set     string
	percent float64
}

type distribution struct {
	name    string
	chances []chance
}

var distributions = [...]distribution{
	{"default", []chance{{"web", 100}, {"vision", 100}, {"image_gen", 100}, {"terminal", 100}, {"file", 100}, {"moa", 100}, {"browser", 100}}},
	{"image_gen", []chance{{"image_gen", 90}, {"vision", 90}, {"web", 55}, {"terminal", 45}, {"moa", 10}}},
	{"research", []chance{{"web", 90}, {"browser", 70}, {"vision", 50}, {"moa", 40}, {"terminal", 10}}},
	{"science", []chance{{"web", 94}, {"terminal", 94}, {"file", 94}, {"vision", 65}, {"browser", 50}, {"image_gen", 15}, {"moa", 10}}},
	{"development", []chance{{"terminal", 80}, {"file", 80}, {"moa", 60}, {"web", 30}, {"vision", 10}}},
	{"safe", []chance{{"web", 80}, {"browser", 70}, {"vision", 60}, {"image_gen", 60}, {"moa", 50}}},
	{"balanced", []chance{{"web", 50}, {"vision", 50}, {"image_gen", 50}, {"terminal", 50}, {"file", 50}, {"moa", 50}, {"browser", 50}}},
	{"minimal", []chance{{"web", 100}}},
	{"terminal_only", []chance{{"terminal", 100}, {"file", 100}}},
	{"terminal_web", []chance{{"terminal", 100}, {"file", 100}, {"web", 100}}},
	{"creative", []chance{{"image_gen", 90}, {"vision", 90}, {"web", 30}}},
	{"reasoning", []chance{{"moa", 90}, {"web", 30}, {"terminal", 20}}},
	{"browser_use", []chance{{"browser", 100}, {"web", 80}, {"vision", 70}}},
	{"browser_only", []chance{{"browser", 100}}},
	{"browser_tasks", []chance{{"browser", 97}, {"vision", 12}, {"terminal", 15}}},
	{"terminal_tasks", []chance{{"terminal", 97}, {"file", 97}, {"web", 97}, {"browser", 75}, {"vision", 50}, {"image_gen", 10}}},
	{"mixed_tasks", []chance{{"browser", 92}, {"terminal", 92}, {"file", 92}, {"web", 35}, {"vision", 15}, {"image_gen", 15}}},
}

// Distributions returns the names that Draw knows, in their order.
func Distributions() []string {
	var names []string
	for _, d := range distributions {
		names = append(names, d.name)
	}
	return names
}

// Draw picks toolsets for one sample of data generation: each with its own
// chance, and the likeliest one when none was picked. The same random numbers
// give the same sets.
func Draw(name string, rng *rand.Rand) ([]string, error) {
	i := slices.IndexFunc(distributions[:], func(d distribution) bool { return d.name == name })
	if i < 0 {
		near := tool.Nearest(name, Distributions(), 1)
		if len(near) == 0 {
			near = Distributions()
		}
		return nil, fmt.Errorf("no distribution is called %q; there is %s", name, and(near))
	}
	var drawn []string
	best := distributions[i].chances[0]
	for _, c := range distributions[i].chances {
		if rng.Float64()*100 < c.percent {
			drawn = append(drawn, c.set)
		}
		if c.percent > best.percent {
			best = c
		}
	}
	if len(drawn) == 0 {
		drawn = []string{best.set}
	}
	return drawn, nil
}
