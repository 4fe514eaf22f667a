package fakemodel

func anthropicStop(finish string) string {
	switch finish {
	case "tool_calls":
		return "tool_use"
	case "length":
		return "max_tokens"
	case "content_filter":
		return "refusal"
	default:
		return "end_turn"
	}
}

func anthropicUsage(u Usage) object {
	return object{
		"input_tokens": u.Input - u.CacheRead - u.CacheWrite, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

func anthropicWhole(r Reply) string {
	content := []object{}
	if r.Reasoning != "" {
		content = append(content, object{"type": "thinking", "thinking": r.Reasoning, "signature": r.Signature})
	}
	if t := r.fullText(); t != "" {
		content = append(content, object{"type": "text", "text": t})
	}
	for _, c := range r.Calls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": argObject(c.Args)})
	}
	return text(object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "fake-model", "content": content,
		"stop_reason": anthropicStop(r.finish()), "usage": anthropicUsage(r.usage()),
	})
}

func anthropicEvents(r Reply) []string {
	var events []string
	event := func(name string, v object) {
		v["type"] = name
		events = append(events, name+"\n"+text(v))
	}
	usage := anthropicUsage(r.usage())
	usage["output_tokens"] = 1
	event("message_start", object{"message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "fake-model", "content": []object{}, "usage": usage,
	}})
	n := 0
	block := func(start object, deltas ...object) {
		event("content_block_start", object{"index": n, "content_block": start})
		for _, d := range deltas {
			event("content_block_delta", object{"index": n, "delta": d})
		}
		event("content_block_stop", object{"index": n})
		n++
	}
	if r.Reasoning != "" {
		var d []object
		for _, p := range pieces(r.Reasoning, nil) {
			d = append(d, object{"type": "thinking_delta", "thinking": p})
		}
		if r.Signature != "" {
			d = append(d, object{"type": "signature_delta", "signature": r.Signature})
		}
		block(object{"type": "thinking", "thinking": "", "signature": ""}, d...)
	}
	if t := r.fullText(); t != "" {
		var d []object
		for _, p := range pieces(r.Text, r.Chunks) {
			d = append(d, object{"type": "text_delta", "text": p})
		}
		block(object{"type": "text", "text": ""}, d...)
	}
	for _, c := range r.Calls {
		var d []object
		for _, p := range pieces(c.Args, nil) {
			d = append(d, object{"type": "input_json_delta", "partial_json": p})
		}
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, d...)
	}
	event("message_delta", object{
		"delta": object{"stop_reason": anthropicStop(r.finish())},
		"usage": object{"output_tokens": r.usage().Output},
	})
	event("message_stop", object{})
	return events
}
