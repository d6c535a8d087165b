package spdy

// HeaderSizes is what a header block cost: before compression as HeaderSize counts, and the whole frame on the wire.
type HeaderSizes struct{ Expanded, Wire int }

// An Event is one of the types below: what the peer did, as far as the session's owner has to know of it.
type Event interface{ event() }

type (
	// Opened: the peer opened a stream.
	Opened struct {
		StreamID, AssociatedID uint32
		Priority               uint8
		Fin, Unidirectional    bool
		Fields                 []Field
		Sizes                  HeaderSizes
	}
	// Refused: the peer opened a stream beyond MaxPeerStreams, and was told that it is refused.
	Refused struct{ StreamID, AssociatedID uint32 }
	// Replied: the peer answered our stream.
	Replied struct {
		StreamID uint32
		Fin      bool
		Fields   []Field
		Sizes    HeaderSizes
	}
	// MoreHeaders: HEADERS came for a stream; after the body they are its trailers.
	MoreHeaders struct {
		StreamID uint32
		Fin      bool
		Fields   []Field
		Sizes    HeaderSizes
	}
	// Received: a part of a body. Bytes is valid until the next call of Receive; the owner says with Consume when it was read.
	Received struct {
		StreamID uint32
		Bytes    []byte
		Begins   bool // the first part of a frame that has any
		Fin      bool
	}
	// Ended: a stream was reset, by the peer or because of what the peer sent.
	Ended struct{ Err *StreamError }
	// Settled: the peer's SETTINGS are in force.
	Settled struct{}
	// WentAway: the peer takes no more streams, and did not act on those in Unprocessed.
	WentAway struct {
		Status      GoAwayStatus
		LastGoodID  uint32
		Unprocessed []uint32
	}
)

func (Opened) event()      {}
func (Refused) event()     {}
func (Replied) event()     {}
func (MoreHeaders) event() {}
func (Received) event()    {}
func (Ended) event()       {}
func (Settled) event()     {}
func (WentAway) event()    {}
