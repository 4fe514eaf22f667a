package fakemodel

import "fmt"

// responsesOutput is the finished list of items.
func responsesOutput(r Reply) []object {
	items := []object{}
	if r.Reasoning != "" {
		item := object{"type": "reasoning", "id": "rs_1", "summary": []object{{"type": "summary_text", "text": r.Reasoning}}}
		if r.Signature != "" {
			item["encrypted_content"] = r.Signature
		}
		items = append(items, item)
	}
	if t := r.fullText(); t != "" {
		items = append(items, object{
			"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": t, "annotations": []object{}}},
		})
	}
	for i, c := range r.Calls {
		items = append(items, object{
			"type": "function_call", "id": fmt.Sprintf("fc_%d", i+1), "call_id": c.ID, "name": c.Name,
			"arguments": c.Args, "status": "completed",
		})
	}
	return items
}

func responsesWhole(r Reply) string { return text(responsesObject(r)) }

func responsesObject(r Reply) object {
	u := r.usage()
	o := object{
		"id": "resp_1", "object": "response", "model": "fake-model", "status": "completed", "output": responsesOutput(r),
		"usage": object{
			"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"input_tokens_details":  object{"cached_tokens": u.CacheRead},
			"output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		},
	}
	switch r.finish() {
	case "length":
		o["status"], o["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	case "content_filter":
		o["status"], o["incomplete_details"] = "incomplete", object{"reason": "content_filter"}
	}
	return o
}

func responsesEvents(r Reply) []string {
	var events []string
	event := func(name string, v object) {
		v["type"] = name
		v["sequence_number"] = len(events)
		events = append(events, name+"\n"+text(v))
	}
	event("response.created", object{"response": object{"id": "resp_1", "status": "in_progress", "output": []object{}}})
	for i, item := range responsesOutput(r) {
		id := item["id"]
		start := object{"type": item["type"], "id": id, "status": "in_progress"}
		switch item["type"] {
		case "reasoning":
			start["summary"] = []object{}
			event("response.output_item.added", object{"output_index": i, "item": start})
			for _, p := range pieces(r.Reasoning, nil) {
				event("response.reasoning_summary_text.delta", object{"output_index": i, "item_id": id, "summary_index": 0, "delta": p})
			}
		case "message":
			start["role"], start["content"] = "assistant", []object{}
			event("response.output_item.added", object{"output_index": i, "item": start})
			for _, p := range pieces(r.Text, r.Chunks) {
				event("response.output_text.delta", object{"output_index": i, "item_id": id, "content_index": 0, "delta": p})
			}
		case "function_call":
			start["call_id"], start["name"], start["arguments"] = item["call_id"], item["name"], ""
			event("response.output_item.added", object{"output_index": i, "item": start})
			for _, p := range pieces(item["arguments"].(string), nil) {
				event("response.function_call_arguments.delta", object{"output_index": i, "item_id": id, "delta": p})
			}
			event("response.function_call_arguments.done", object{"output_index": i, "item_id": id, "arguments": item["arguments"]})
		}
		event("response.output_item.done", object{"output_index": i, "item": item})
	}
	end := responsesObject(r)
	event("response."+end["status"].(string), object{"response": end})
	return events
}
