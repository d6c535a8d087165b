package spdy

import (
	"fmt"
	"slices"
)

func (s *Session) receiveWindowUpdate(f WindowUpdate) (Event, error) {
	if f.StreamID == 0 && s.version.sessionWindow() {
		if f.Delta == 0 || s.sendWindow+int64(f.Delta) > maxWindow {
			return nil, protocolError("a WINDOW_UPDATE of %d makes the session's window %d", f.Delta, s.sendWindow+int64(f.Delta))
		}
		s.sendWindow += int64(f.Delta)
		return nil, nil
	}
	st := s.streams[f.StreamID]
	if st == nil {
		return nil, nil // it crossed with the stream's end
	}
	if f.Delta == 0 || st.sendWindow+int64(f.Delta) > maxWindow {
		return s.refuse(f.StreamID, FlowControlError, fmt.Sprintf("a WINDOW_UPDATE of %d makes the window %d", f.Delta, st.sendWindow+int64(f.Delta)))
	}
	st.sendWindow += int64(f.Delta)
	s.output.offer(st)
	return nil, nil
}

func (s *Session) receiveSettings(f Settings) (Event, error) {
	for _, entry := range f.Entries {
		if entry.ID == SettingMaxConcurrentStreams || entry.ID == SettingInitialWindowSize {
			s.heard[entry.ID] = entry.Value
		}
		if entry.Flags&Persisted != 0 {
			continue // what the peer was asked to remember comes back: we asked for nothing
		}
		switch {
		case entry.ID == SettingMaxConcurrentStreams:
			s.peerTakes = int(min(entry.Value, maxWindow))
		case entry.ID == SettingInitialWindowSize && s.version.streamWindows():
			if err := s.changeWindows(entry.Value); err != nil {
				return nil, err
			}
		}
	}
	return Settled{}, nil
}

// changeWindows takes the peer's new window for streams, which moves those that are open too: they may become negative.
func (s *Session) changeWindows(size uint32) error {
	if size > maxWindow {
		return protocolError("SETTINGS makes the streams' windows %d", size)
	}
	change := int64(size) - s.streamWindow
	s.streamWindow = int64(size)
	for _, st := range s.streams {
		if st.sendWindow += change; st.sendWindow > maxWindow {
			return protocolError("SETTINGS makes the window of stream %d %d", st.id, st.sendWindow)
		}
		s.output.offer(st)
	}
	return nil
}

func (s *Session) receivePing(f Ping) (Event, error) {
	if s.isOurs(f.ID) {
		return nil, nil // an answer to a question that was not asked
	}
	s.answer(f)
	return nil, s.tooManyAnswers()
}

// receiveGoAway ends every stream of ours that the peer says it will not act on.
func (s *Session) receiveGoAway(f GoAway) (Event, error) {
	s.peerAway = true
	event := WentAway{Status: f.Status, LastGoodID: f.LastGoodID}
	for id, st := range s.streams {
		if st.ours && id > f.LastGoodID {
			event.Unprocessed = append(event.Unprocessed, id)
			s.forget(st)
		}
	}
	slices.Sort(event.Unprocessed)
	return event, nil
}

// Consume says that a part of a body was read (or will never be), so that the peer may send as much again. Windows are given back by halves, as
// Chromium does: each update costs 16 bytes.
func (s *Session) Consume(id uint32, count int) {
	s.consumeSession(count)
	st := s.streams[id]
	if st == nil || st.remote == ended || !s.version.streamWindows() {
		return
	}
	if st.unacked += int64(count); st.unacked > int64(s.config.StreamWindow)/2 {
		s.queue(WindowUpdate{id, uint32(st.unacked)})
		st.receiveWindow += st.unacked
		st.unacked = 0
	}
}

func (s *Session) consumeSession(count int) {
	if !s.version.sessionWindow() {
		return
	}
	window := int64(s.config.SessionWindow)
	s.sessionUnacked += int64(count)
	// What some streams' owners leave unread takes from the window too: the others must not starve on what is left of it.
	starving := s.receiveWindow < window/4 && s.sessionUnacked > window/16
	if starving || s.sessionUnacked > window/2 {
		s.queue(WindowUpdate{0, uint32(s.sessionUnacked)})
		s.receiveWindow += s.sessionUnacked
		s.sessionUnacked = 0
	}
}

// SetStreamWindow changes what the peer may send on each stream. A peer that has not heard of it yet goes by the old size, so that a smaller one
// holds for what is read from now on.
func (s *Session) SetStreamWindow(size int) {
	if !s.version.streamWindows() {
		return
	}
	for _, st := range s.streams {
		st.receiveWindow += max(int64(size-s.config.StreamWindow), 0)
	}
	s.config.StreamWindow = size
	s.queue(Settings{Entries: []Setting{{ID: SettingInitialWindowSize, Value: uint32(size)}}})
}

// Heard is what the peer's SETTINGS said last: how many streams it takes, and the window of a stream.
func (s *Session) Heard() map[SettingID]uint32 { return s.heard }

// Tell queues a SETTINGS frame.
func (s *Session) Tell(settings ...Setting) { s.queue(Settings{Entries: settings}) }

// GoAway tells the peer that no more of its streams are acted on.
func (s *Session) GoAway(status GoAwayStatus) {
	if s.toldAway {
		return
	}
	s.toldAway = true
	s.queue(GoAway{s.lastPeerID, status})
}
