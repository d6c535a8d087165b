package spdy

import "fmt"

// A stream has two halves, one for each side's frames. Each goes its way by itself, by the one table below; the stream has ended when both have.
//
//	        SYN_STREAM          FLAG_FIN
//	idle ----------------> open ----------> ended        the side that opened the stream
//	     \                 ^                 ^
//	      \ (the other's)  | SYN_REPLY       | FLAG_UNIDIRECTIONAL, RST_STREAM
//	       `-> awaited ----'-----------------'           the side that answers
type half uint8

const (
	idle    half = iota // there is no such stream
	awaited             // the stream is there; this side has yet to answer it
	open
	ended
	halves
)

// input is what happens to a half.
type input uint8

const (
	inputOpen    input = iota // its own SYN_STREAM
	inputAwait                // the other side's SYN_STREAM
	inputReply                // SYN_REPLY
	inputHeaders              // HEADERS
	inputData                 // DATA
	inputFin                  // FLAG_FIN, after the frame that carries it
	inputReset                // RST_STREAM, by whichever side
	inputs
)

var (
	halfNames  = [halves]string{"idle", "awaited", "open", "ended"}
	inputNames = [inputs]string{"SYN_STREAM", "the other side's SYN_STREAM", "SYN_REPLY", "HEADERS", "DATA", "FLAG_FIN", "RST_STREAM"}
)

func (h half) String() string  { return halfNames[h] }
func (i input) String() string { return inputNames[i] }

// outcome is the next half state, or where refuse is set the status that the drafts want the stream reset with.
type outcome struct {
	next   half
	refuse Status
	set    bool
}

func to(next half) outcome          { return outcome{next: next, set: true} }
func refuse(status Status) outcome  { return outcome{refuse: status, set: true} }
func (o outcome) orDefault() Status { return max(o.refuse, ProtocolError) }

// table says for each state what an input does; what it leaves out is a protocol error.
var table = [halves][inputs]outcome{
	idle: {
		inputOpen:    to(open),
		inputAwait:   to(awaited),
		inputReply:   refuse(InvalidStream),
		inputHeaders: refuse(InvalidStream),
		inputData:    refuse(InvalidStream),
	},
	awaited: {
		inputReply: to(open),
		inputFin:   to(ended), // a stream that is unidirectional from its beginning
		inputReset: to(ended),
	},
	open: {
		inputReply:   refuse(StreamInUse),
		inputHeaders: to(open),
		inputData:    to(open),
		inputFin:     to(ended),
		inputReset:   to(ended),
	},
	ended: {
		inputReply:   refuse(StreamAlreadyClosed),
		inputHeaders: refuse(StreamAlreadyClosed),
		inputData:    refuse(StreamAlreadyClosed),
		inputReset:   to(ended),
	},
}

// after is the state that follows from an input; err, a StreamError without its stream, where the input is not allowed.
func (h half) after(in input) (half, *StreamError) {
	found := table[h][in]
	if found.set && found.refuse == 0 {
		return found.next, nil
	}
	return h, &StreamError{Status: found.orDefault(), Reason: fmt.Sprintf("%s came where this half of the stream is %s", in, h)}
}
