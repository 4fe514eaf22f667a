package chat

// Usage counts the tokens of one call or of many. Input is what was not read
// from a cache, so a prompt's whole size is Input+CacheRead+CacheWrite.
type Usage struct {
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_tokens"`
	CacheWrite int `json:"cache_write_tokens"`
	Reasoning  int `json:"reasoning_tokens"` // part of Output
	Calls      int `json:"api_calls"`
}

// Prompt is the whole size of what was sent.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	u.Input += v.Input
	u.Output += v.Output
	u.CacheRead += v.CacheRead
	u.CacheWrite += v.CacheWrite
	u.Reasoning += v.Reasoning
	u.Calls += v.Calls
	return u
}
