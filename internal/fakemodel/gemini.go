package fakemodel

func geminiFinish(finish string) string {
	switch finish {
	case "length":
		return "MAX_TOKENS"
	case "content_filter":
		return "SAFETY"
	default:
		return "STOP"
	}
}

func geminiUsage(u Usage) object {
	return object{
		"promptTokenCount": u.Input, "candidatesTokenCount": u.Output - u.Reasoning, "thoughtsTokenCount": u.Reasoning,
		"cachedContentTokenCount": u.CacheRead, "totalTokenCount": u.Input + u.Output,
	}
}

func geminiCall(c Call, signature string) object {
	part := object{"functionCall": object{"name": c.Name, "args": argObject(c.Args)}}
	if signature != "" {
		part["thoughtSignature"] = signature
	}
	return part
}

func geminiChunk(parts []object, finish string, u *Usage) string {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = geminiFinish(finish)
	}
	o := object{"candidates": []object{candidate}, "modelVersion": "fake-model", "responseId": "r1"}
	if u != nil {
		o["usageMetadata"] = geminiUsage(*u)
	}
	return text(o)
}

func geminiWhole(r Reply) string {
	parts := []object{}
	if r.Reasoning != "" {
		parts = append(parts, object{"text": r.Reasoning, "thought": true})
	}
	if t := r.fullText(); t != "" {
		parts = append(parts, object{"text": t})
	}
	for i, c := range r.Calls {
		signature := ""
		if i == 0 { // as the service does: the first of a batch carries it
			signature = r.Signature
		}
		parts = append(parts, geminiCall(c, signature))
	}
	u := r.usage()
	return geminiChunk(parts, r.finish(), &u)
}

func geminiEvents(r Reply) []string {
	var events []string
	for _, p := range pieces(r.Reasoning, nil) {
		events = append(events, geminiChunk([]object{{"text": p, "thought": true}}, "", nil))
	}
	for _, p := range pieces(r.Text, r.Chunks) {
		events = append(events, geminiChunk([]object{{"text": p}}, "", nil))
	}
	for i, c := range r.Calls {
		signature := ""
		if i == 0 {
			signature = r.Signature
		}
		events = append(events, geminiChunk([]object{geminiCall(c, signature)}, "", nil))
	}
	u := r.usage()
	return append(events, geminiChunk([]object{{"text": ""}}, r.finish(), &u))
}
