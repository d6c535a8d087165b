package spdy

import (
	"errors"
	"fmt"

	"lanelab/gateway/internal/flood"
)

// Receive takes bytes from the peer and says what they mean. An error (a *SessionError) ends the session: a GOAWAY for the peer is then ready to
// be produced, and the events up to there are returned.
func (s *Session) Receive(bytes []byte) ([]Event, error) {
	var events []Event
	for s.failure == nil {
		frame, rest, err := s.decoder.Next(bytes)
		if err == nil && frame == nil {
			return events, nil
		}
		if err == nil {
			var event Event
			if err = s.countFlood(frame); err == nil {
				event, err = s.receiveFrame(frame)
			}
			if event != nil {
				events = append(events, event)
			}
		}
		if err != nil {
			s.fail(err)
		}
		bytes = rest
	}
	return events, s.failure
}

// fail ends the session; a stream error only its stream.
func (s *Session) fail(err error) {
	var session *SessionError
	if !errors.As(err, &session) {
		session = &SessionError{GoAwayInternalError, err.Error()}
	}
	s.GoAway(session.Status)
	s.failure = session
}

// countFlood counts a frame that no exchange needs, whatever it says.
func (s *Session) countFlood(frame Frame) error {
	switch f := frame.(type) {
	case Settings:
		return s.count(flood.Settings)
	case Ping:
		return s.count(flood.Ping)
	case WindowUpdate:
		return s.count(flood.WindowUpdate)
	case RstStream:
		return s.count(flood.Reset)
	case Data:
		if len(f.Payload) == 0 && !f.Fin {
			return s.count(flood.Empty)
		}
	case Headers:
		if !f.Fin {
			return s.count(flood.Empty)
		}
	case GoAway, Noop, Unknown:
		return s.count(flood.Empty)
	}
	return nil
}

func (s *Session) count(kind flood.Kind) error {
	if err := s.floods.Count(kind); err != nil {
		return &SessionError{GoAwayProtocolError, err.Error()}
	}
	return nil
}

func (s *Session) receiveFrame(frame Frame) (Event, error) {
	switch f := frame.(type) {
	case SynStream:
		return s.receiveSynStream(f)
	case SynReply:
		return s.receiveBlock(f.StreamID, inputReply, f.Fin, f.Block)
	case Headers:
		return s.receiveBlock(f.StreamID, inputHeaders, f.Fin, f.Block)
	case Data:
		return s.receiveData(f)
	case RstStream:
		return s.receiveReset(f)
	case WindowUpdate:
		return s.receiveWindowUpdate(f)
	case Settings:
		return s.receiveSettings(f)
	case Ping:
		return s.receivePing(f)
	case GoAway:
		return s.receiveGoAway(f)
	case Noop, Unknown:
		return nil, nil
	}
	panic(fmt.Sprintf("spdy: the decoder gave a frame of type %T", frame))
}

// expandFields reads a header block. Every block must come through here, also of streams that nobody wants: the compression goes over them all.
func (s *Session) expandFields(block []byte) ([]Field, error) {
	content, err := s.expander.expand(block, s.config.MaxHeaderBytes)
	if err != nil {
		return nil, protocolError("%s", err)
	}
	fields, err := parseBlock(s.version, content)
	if errors.Is(err, errBlockCut) {
		return nil, protocolError("%s", err)
	}
	return fields, err
}

// wireSize is a whole frame's size, from that of its block and of what precedes the block.
func (s *Session) wireSize(block []byte, opens bool) int {
	switch {
	case opens:
		return headBytes + 10 + len(block)
	case s.version == V2:
		return headBytes + 6 + len(block)
	}
	return headBytes + 4 + len(block)
}

func (s *Session) receiveSynStream(f SynStream) (Event, error) {
	fields, err := s.expandFields(f.Block)
	if isSession(err) {
		return nil, err
	}
	if f.StreamID == 0 || s.isOurs(f.StreamID) || f.StreamID < s.lastPeerID {
		return nil, protocolError("a SYN_STREAM has the stream %d after stream %d", f.StreamID, s.lastPeerID)
	}
	if f.StreamID == s.lastPeerID {
		return s.refuse(f.StreamID, ProtocolError, "a SYN_STREAM came a second time")
	}
	if s.toldAway {
		return nil, nil // it was told that this is not acted on
	}
	s.lastPeerID = f.StreamID
	if s.peers >= s.config.MaxPeerStreams {
		return Refused{f.StreamID, f.AssociatedID}, s.resetPeer(f.StreamID, RefusedStream)
	}
	if err != nil {
		return s.refuse(f.StreamID, ProtocolError, err.Error())
	}
	if s.role == ClientRole && (!f.Unidirectional || s.streams[f.AssociatedID] == nil) {
		return s.refuse(f.StreamID, ProtocolError, "a pushed stream is not unidirectional, or belongs to no stream that is open")
	}
	st := &stream{id: f.StreamID, priority: f.Priority, local: must(idle.after(inputAwait)), remote: must(idle.after(inputOpen))}
	if f.Unidirectional {
		st.local = must(st.local.after(inputFin))
	}
	if f.Fin {
		st.remote = must(st.remote.after(inputFin))
	}
	s.add(st)
	s.forgetIfEnded(st)
	return Opened{f.StreamID, f.AssociatedID, f.Priority, f.Fin, f.Unidirectional, fields,
		HeaderSizes{HeaderSize(fields), s.wireSize(f.Block, true)}}, nil
}

// must takes a transition that the table has for certain.
func must(next half, err *StreamError) half {
	if err != nil {
		panic(err)
	}
	return next
}

func isSession(err error) bool {
	var session *SessionError
	return errors.As(err, &session)
}

// refuse resets a stream because of what the peer sent.
func (s *Session) refuse(id uint32, status Status, reason string) (Event, error) {
	status = status.in(s.version)
	tooMany := s.resetPeer(id, status)
	if st := s.streams[id]; st != nil {
		s.forget(st)
		return Ended{&StreamError{StreamID: id, Status: status, Reason: reason}}, tooMany
	}
	return nil, tooMany
}

// resetPeer answers what the peer sent with a reset.
func (s *Session) resetPeer(id uint32, status Status) error {
	s.answer(RstStream{id, status})
	if err := s.tooManyAnswers(); err != nil {
		return err
	}
	return s.count(flood.Refused)
}

// receiveBlock takes SYN_REPLY and HEADERS.
func (s *Session) receiveBlock(id uint32, in input, fin bool, block []byte) (Event, error) {
	fields, err := s.expandFields(block)
	if isSession(err) {
		return nil, err
	}
	st, event, refused := s.move(id, in)
	if st == nil {
		return event, refused
	}
	if err != nil {
		return s.refuse(id, ProtocolError, err.Error())
	}
	if fin {
		st.remote = must(st.remote.after(inputFin))
		defer s.forgetIfEnded(st)
	}
	if in == inputReply {
		return Replied{id, fin, fields, HeaderSizes{HeaderSize(fields), s.wireSize(block, false)}}, nil
	}
	return MoreHeaders{id, fin, fields, HeaderSizes{HeaderSize(fields), s.wireSize(block, false)}}, nil
}

// move applies an input to the peer's half of a stream. Without a stream there is nothing more to do but to report the event.
func (s *Session) move(id uint32, in input) (*stream, Event, error) {
	st := s.streams[id]
	if st == nil {
		if s.wasOpened(id) || (s.toldAway && !s.isOurs(id)) {
			return nil, nil, nil // it crossed with our reset or GOAWAY, or follows the stream's end: to be ignored
		}
		_, refused := idle.after(in)
		event, err := s.refuse(id, refused.Status, refused.Reason)
		return nil, event, err
	}
	next, refused := st.remote.after(in)
	if refused != nil {
		event, err := s.refuse(id, refused.Status, refused.Reason)
		return nil, event, err
	}
	st.remote = next
	return st, nil, nil
}

func (s *Session) receiveData(f Data) (Event, error) {
	if f.StreamID == 0 {
		return nil, protocolError("a DATA frame has the stream 0")
	}
	if s.version.sessionWindow() {
		if s.receiveWindow -= int64(f.Announced); s.receiveWindow < 0 {
			return nil, protocolError("the peer sent %d bytes more than the session's window lets it", -s.receiveWindow)
		}
	}
	st, event, err := s.move(f.StreamID, inputData)
	if st == nil {
		s.consumeSession(len(f.Payload)) // nobody will read it
		return event, err
	}
	if s.version.streamWindows() {
		if st.receiveWindow -= int64(f.Announced); st.receiveWindow < 0 {
			s.consumeSession(len(f.Payload))
			return s.refuse(f.StreamID, FlowControlError, fmt.Sprintf("the peer sent %d bytes more than the window lets it", -st.receiveWindow))
		}
	}
	if f.Fin {
		st.remote = must(st.remote.after(inputFin))
		s.forgetIfEnded(st)
	}
	return Received{f.StreamID, f.Payload, f.Announced > 0, f.Fin}, nil
}

func (s *Session) receiveReset(f RstStream) (Event, error) {
	st := s.streams[f.StreamID]
	if st == nil {
		return nil, nil // never an answer to a reset: two sides would go on for ever
	}
	s.forget(st)
	return Ended{&StreamError{StreamID: f.StreamID, Status: f.Status, ByPeer: true}}, nil
}
