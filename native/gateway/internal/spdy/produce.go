package spdy

// sending is what a stream has still to send.
type sending struct {
	parts    [][]byte
	fin      bool // after the parts, and the trailers if there are any
	trailers []Field
	offered  bool // it stands in a queue of output
}

func (q *sending) add(bytes []byte, fin bool) {
	if len(bytes) > 0 {
		q.parts = append(q.parts, bytes)
	}
	q.fin = q.fin || fin
}

func (q *sending) waiting() bool { return len(q.parts) > 0 || q.fin }

// output is what the session has still to send: control frames in their order (header compression wants it), then DATA by priority; streams of
// one priority take turns.
type output struct {
	control []controlFrame
	answers int // of the control frames, those that the peer made us queue
	ready   [8][]*stream
}

type controlFrame struct {
	frame Frame
	mark  uint32 // the stream that Produced.Opened names; 0: none
}

// offer puts a stream into its queue if it can send something now.
func (o *output) offer(st *stream) {
	if st.sending.offered || !st.sending.waiting() || (len(st.sending.parts) > 0 && st.sendWindow <= 0) {
		return
	}
	st.sending.offered = true
	o.ready[st.priority&7] = append(o.ready[st.priority&7], st)
}

// drop takes back what a stream has to send.
func (o *output) drop(st *stream) {
	st.sending.parts, st.sending.fin, st.sending.trailers = nil, false, nil
	if !st.sending.offered {
		return
	}
	queue := o.ready[st.priority&7]
	for i, other := range queue {
		if other == st {
			o.ready[st.priority&7] = append(queue[:i], queue[i+1:]...)
			break
		}
	}
	st.sending.offered = false
}

func (s *Session) queue(frame Frame) { s.queueMarked(frame, 0) }

// queueMarked queues a frame. The compressor's bytes are only borrowed, so that blocks are copied.
func (s *Session) queueMarked(frame Frame, mark uint32) {
	switch f := frame.(type) {
	case SynStream:
		f.Block = append([]byte(nil), f.Block...)
		frame = f
	case SynReply:
		f.Block = append([]byte(nil), f.Block...)
		frame = f
	}
	s.output.control = append(s.output.control, controlFrame{frame, mark})
}

// answer queues a frame that the peer made us send.
func (s *Session) answer(frame Frame) {
	s.output.answers++
	s.queue(frame)
}

func (s *Session) tooManyAnswers() error {
	if s.output.answers > maxAnswers {
		return protocolError("%d answers wait for a peer that sends without reading", s.output.answers)
	}
	return nil
}

// Pending says whether Produce may have something to give.
func (s *Session) Pending() bool {
	if len(s.output.control) > 0 {
		return true
	}
	for _, queue := range s.output.ready {
		if len(queue) > 0 {
			return true
		}
	}
	return false
}

// Produced is what Produce gave.
type Produced struct {
	Bytes   []byte
	Opened  []uint32 // streams whose SYN_STREAM or SYN_REPLY is among the bytes
	Drained []uint32 // streams that have nothing more queued
}

// Produce appends what is to be sent next to buffer: all control frames, and DATA until there are limit bytes. Nothing is appended where there is
// nothing to send, or no window for it.
func (s *Session) Produce(buffer []byte, limit int) Produced {
	produced := Produced{Bytes: buffer}
	for _, queued := range s.output.control {
		produced.Bytes = AppendFrame(produced.Bytes, s.version, queued.frame)
		if queued.mark != 0 {
			produced.Opened = append(produced.Opened, queued.mark)
		}
	}
	s.output.control, s.output.answers = s.output.control[:0], 0
	for len(produced.Bytes) < limit {
		st := s.nextReady()
		if st == nil {
			break
		}
		s.produceData(&produced, st)
	}
	return produced
}

// nextReady takes the stream whose turn it is, or none where the session's window is used up: a stream that has only its end to tell needs none.
func (s *Session) nextReady() *stream {
	for priority, queue := range s.output.ready {
		for i, st := range queue {
			if s.version.sessionWindow() && s.sendWindow <= 0 && len(st.sending.parts) > 0 {
				continue
			}
			s.output.ready[priority] = append(queue[:i], queue[i+1:]...)
			st.sending.offered = false
			return st
		}
	}
	return nil
}

func (s *Session) produceData(produced *Produced, st *stream) {
	queue := &st.sending
	var payload []byte
	if len(queue.parts) > 0 {
		payload = queue.parts[0][:min(len(queue.parts[0]), dataFrameBytes, s.maySend(st))]
		if len(payload) == 0 {
			return // the window shrank since the stream was offered; its growth offers it again
		}
		if queue.parts[0] = queue.parts[0][len(payload):]; len(queue.parts[0]) == 0 {
			queue.parts = queue.parts[1:]
		}
	}
	last := len(queue.parts) == 0 && queue.fin
	if len(payload) > 0 || (last && queue.trailers == nil) {
		produced.Bytes = AppendFrame(produced.Bytes, s.version, Data{StreamID: st.id, Fin: last && queue.trailers == nil, Payload: payload})
	}
	s.floods.Step()
	s.spend(st, len(payload))
	if last && queue.trailers != nil {
		block := s.compress(queue.trailers)
		produced.Bytes = AppendFrame(produced.Bytes, s.version, Headers{st.id, true, block})
	}
	if last {
		queue.fin, queue.trailers = false, nil
	}
	if len(queue.parts) == 0 {
		produced.Drained = append(produced.Drained, st.id)
	}
	s.output.offer(st)
	s.forgetIfEnded(st)
}

// spend takes from the windows what was sent.
func (s *Session) spend(st *stream, count int) {
	if s.version.streamWindows() {
		st.sendWindow -= int64(count)
	}
	if s.version.sessionWindow() {
		s.sendWindow -= int64(count)
	}
}

// maySend is how much the windows let a stream send now.
func (s *Session) maySend(st *stream) int {
	may := int64(maxWindow)
	if s.version.streamWindows() {
		may = min(may, st.sendWindow)
	}
	if s.version.sessionWindow() {
		may = min(may, s.sendWindow)
	}
	return int(max(may, 0))
}
