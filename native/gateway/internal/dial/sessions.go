package dial

import (
	"crypto/tls"
	"sync"
)

// sessions keeps what TLS needs for resumption as Chromium does: a session of TLS 1.2 is used again and again until the server gives a newer
// one. One of TLS 1.3 is used once, so that connections cannot be told to belong together, and the two newest are kept of each host.
type sessions struct {
	once bool // TLS 1.3

	mu   sync.Mutex
	kept map[string][]*tls.ClientSessionState // newest first
}

func newSessions(version uint16) *sessions {
	return &sessions{once: version == tls.VersionTLS13, kept: map[string][]*tls.ClientSessionState{}}
}

// Get implements tls.ClientSessionCache.
func (s *sessions) Get(host string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.kept[host]
	if len(kept) == 0 {
		return nil, false
	}
	if s.once {
		s.kept[host] = kept[1:]
	}
	return kept[0], true
}

// Put implements tls.ClientSessionCache. nil: what is kept is of no use.
func (s *sessions) Put(host string, session *tls.ClientSessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := []*tls.ClientSessionState{session}
	switch older := s.kept[host]; {
	case session == nil:
		kept = nil
	case s.once && len(older) > 0:
		kept = append(kept, older[0])
	}
	s.kept[host] = kept
}
