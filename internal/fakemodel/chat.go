package fakemodel

func chatUsage(u Usage) object {
	return object{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

func chatCall(i int, c Call, args string) object {
	return object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": args}}
}

func chatWhole(r Reply) string {
	m := object{"role": "assistant", "content": r.fullText()}
	if r.Reasoning != "" {
		m["reasoning_content"] = r.Reasoning
	}
	var calls []object
	for i, c := range r.Calls {
		calls = append(calls, chatCall(i, c, c.Args))
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return text(object{
		"id": "chatcmpl-1", "object": "chat.completion", "model": "fake-model",
		"choices": []object{{"index": 0, "message": m, "finish_reason": r.finish()}},
		"usage":   chatUsage(r.usage()),
	})
}

func chatEvents(r Reply) []string {
	var events []string
	delta := func(d object, finish any) {
		events = append(events, text(object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "fake-model",
			"choices": []object{{"index": 0, "delta": d, "finish_reason": finish}},
		}))
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, p := range pieces(r.Reasoning, nil) {
		delta(object{"reasoning_content": p}, nil)
	}
	for _, p := range pieces(r.Text, r.Chunks) {
		delta(object{"content": p}, nil)
	}
	for i, c := range r.Calls {
		delta(object{"tool_calls": []object{chatCall(i, c, "")}}, nil)
		for _, p := range pieces(c.Args, nil) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}}, nil)
		}
	}
	delta(object{}, r.finish())
	events = append(events, text(object{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": []object{}, "usage": chatUsage(r.usage()),
	}))
	return append(events, "[DONE]")
}
