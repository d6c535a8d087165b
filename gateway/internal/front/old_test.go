package front

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"lanelab/gateway/internal/exchange"
)

// heads counts what is written to it.
type heads struct {
	http.ResponseWriter
	statuses []int
}

func (h *heads) WriteHeader(status int) {
	h.statuses = append(h.statuses, status)
	h.ResponseWriter.WriteHeader(status)
}

// The wire's reader may tell of an interim answer when the browser's request is over already.
func TestNothingIsSaidBeforeAnAnswerThatWasGiven(t *testing.T) {
	hint := []exchange.Field{{Name: "link", Value: "</a>; rel=preload"}}
	for name, end := range map[string]func(*oldAsked){
		"finished": func(x *oldAsked) { x.Finish() },
		"headed":   func(x *oldAsked) { x.Respond(502, nil, false) },
	} {
		w := &heads{ResponseWriter: httptest.NewRecorder()}
		x := &oldAsked{w: w, r: httptest.NewRequest("GET", "/", nil), done: make(chan struct{})}
		x.Inform(103, hint)
		end(x)
		before := len(w.statuses)
		x.Inform(103, hint)
		if len(w.statuses) != before || w.Header().Get("link") != "" || w.statuses[0] != 103 {
			t.Errorf("%s: %v, %v", name, w.statuses, w.Header())
		}
	}
}
