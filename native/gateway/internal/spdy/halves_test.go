package spdy

import "testing"

// The whole table once more, in the words of the drafts: what is not here must be a protocol error.
func TestEveryHalfAndInput(t *testing.T) {
	type key struct {
		half
		input
	}
	next := map[key]half{
		{idle, inputOpen}: open, {idle, inputAwait}: awaited,
		{awaited, inputReply}: open, {awaited, inputFin}: ended, {awaited, inputReset}: ended,
		{open, inputHeaders}: open, {open, inputData}: open, {open, inputFin}: ended, {open, inputReset}: ended,
		{ended, inputReset}: ended,
	}
	refused := map[key]Status{
		{idle, inputReply}: InvalidStream, {idle, inputHeaders}: InvalidStream, {idle, inputData}: InvalidStream,
		{open, inputReply}:  StreamInUse,
		{ended, inputReply}: StreamAlreadyClosed, {ended, inputHeaders}: StreamAlreadyClosed, {ended, inputData}: StreamAlreadyClosed,
	}
	for h := range halves {
		for in := range inputs {
			got, err := h.after(in)
			if want, allowed := next[key{h, in}]; allowed {
				if err != nil || got != want {
					t.Errorf("%s, %s: got %s, %v; want %s", h, in, got, err, want)
				}
				continue
			}
			want, named := refused[key{h, in}]
			if !named {
				want = ProtocolError
			}
			if err == nil || err.Status != want || got != h {
				t.Errorf("%s, %s: got %s, %v; want %s", h, in, got, err, want)
			}
		}
	}
}
