package spdy

import (
	"fmt"
)

// Request opens a stream. With fin nothing follows it. The error says why no stream was opened: the session is as it was.
func (s *Session) Request(fields []Field, priority uint8, fin bool) (uint32, HeaderSizes, error) {
	return s.open(SynStream{Priority: priority, Fin: fin}, fields)
}

// Push opens a stream to the peer that belongs to one of the peer's. Nothing can come back on it.
func (s *Session) Push(associated uint32, fields []Field, priority uint8) (uint32, HeaderSizes, error) {
	if s.streams[associated] == nil {
		return 0, HeaderSizes{}, fmt.Errorf("spdy: nothing can be pushed for stream %d: it is not open", associated)
	}
	return s.open(SynStream{AssociatedID: associated, Priority: priority, Unidirectional: true}, fields)
}

func (s *Session) open(f SynStream, fields []Field) (uint32, HeaderSizes, error) {
	if s.Room() == 0 {
		return 0, HeaderSizes{}, fmt.Errorf("spdy: no stream can be opened: %d are open, the peer takes %d, or the session is ending", s.ours, s.peerTakes)
	}
	f.Block = s.compress(fields)
	if f.Block == nil {
		return 0, HeaderSizes{}, errTooLong
	}
	f.StreamID = s.nextID
	s.nextID += 2
	s.floods.Step()
	st := &stream{id: f.StreamID, priority: min(f.Priority, s.version.LowestPriority()), ours: true}
	f.Priority = st.priority
	st.local, st.remote = must(idle.after(inputOpen)), must(idle.after(inputAwait))
	if f.Fin {
		st.local = must(st.local.after(inputFin))
	}
	if f.Unidirectional {
		st.remote = must(st.remote.after(inputFin))
	}
	s.add(st)
	s.queueMarked(f, st.id)
	return st.id, HeaderSizes{HeaderSize(fields), s.wireSize(f.Block, true)}, nil
}

var errTooLong = fmt.Errorf("spdy: the header fields do not fit into a frame")

// compress returns a block of these fields, or nil where the wire cannot have them: then the compression must not have seen them.
func (s *Session) compress(fields []Field) []byte {
	if !blockFits(s.version, fields) {
		return nil
	}
	return s.compressor.compress(appendBlock(nil, s.version, fields))
}

// Reply answers a stream of the peer's.
func (s *Session) Reply(id uint32, fields []Field, fin bool) (HeaderSizes, error) {
	st, err := s.act(id, inputReply)
	if err != nil {
		return HeaderSizes{}, err
	}
	block := s.compress(fields)
	if block == nil {
		return HeaderSizes{}, errTooLong
	}
	if fin {
		st.local = must(st.local.after(inputFin))
	}
	s.floods.Step()
	s.queueMarked(SynReply{id, fin, block}, id)
	s.forgetIfEnded(st)
	return HeaderSizes{HeaderSize(fields), s.wireSize(block, false)}, nil
}

// Write queues a part of a body: it is sent as the windows and other streams allow; Produced.Drained names the stream when all of it was. The
// bytes are the session's until then.
func (s *Session) Write(id uint32, bytes []byte, fin bool) error {
	st, err := s.act(id, inputData)
	if err != nil {
		return err
	}
	st.sending.add(bytes, fin)
	if fin {
		st.local = must(st.local.after(inputFin))
	}
	s.output.offer(st)
	return nil
}

// Trailers queues HEADERS that end our half of the stream, after what was written.
func (s *Session) Trailers(id uint32, fields []Field) error {
	st, err := s.act(id, inputHeaders)
	if err != nil {
		return err
	}
	if !blockFits(s.version, fields) {
		return errTooLong
	}
	st.sending.trailers, st.sending.fin = fields, true
	st.local = must(st.local.after(inputFin))
	s.output.offer(st)
	return nil
}

// act applies an input to our half of a stream.
func (s *Session) act(id uint32, in input) (*stream, error) {
	if s.failure != nil {
		return nil, s.failure
	}
	st := s.streams[id]
	if st == nil {
		return nil, &StreamError{StreamID: id, Status: InvalidStream, Reason: fmt.Sprintf("%s cannot be sent: the stream is not open", in)}
	}
	next, refused := st.local.after(in)
	if refused != nil {
		refused.StreamID, refused.Reason = id, "not sent: "+refused.Reason
		return nil, refused
	}
	st.local = next
	return st, nil
}

// Reset ends a stream at once; what was queued for it is dropped. It says whether there was one.
func (s *Session) Reset(id uint32, status Status) bool {
	st := s.streams[id]
	if st == nil {
		return false
	}
	s.queue(RstStream{id, status})
	s.forget(st)
	return true
}
