package wirelog

import (
	"strconv"
	"time"
)

// A Time since the gateway began, on a monotonic clock. In JSON it is milliseconds.
type Time time.Duration

// MarshalJSON gives milliseconds with three decimals.
func (t Time) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(t)/float64(time.Millisecond), 'f', 3, 64), nil
}

// At is a time as a field that can be missing.
func At(t Time) *Time { return &t }

// Some is a text as a field that can be missing: empty is missing.
func Some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// Gateway is the first line.
type Gateway struct {
	Event         string `json:"event"`
	Version       string `json:"version"`
	StartedUnixUs int64  `json:"started_unix_us"`
	Wire          any    `json:"wire"`
}

// Connection is written when a connection on the wire has ended, or the gateway has.
type Connection struct {
	Event         string   `json:"event"`
	Connection    int      `json:"connection"`
	Host          string   `json:"host"`
	Hosts         []string `json:"hosts"`
	Backup        bool     `json:"backup"`
	Remote        string   `json:"remote"`
	Local         string   `json:"local"`
	Protocol      string   `json:"protocol"`
	ALPN          *string  `json:"alpn"`
	TLS           *string  `json:"tls"`
	TLSResumed    bool     `json:"tls_resumed"`
	Began         Time     `json:"began_ms"`
	Connected     *Time    `json:"connected_ms"`
	Secured       *Time    `json:"secured_ms"`
	Closed        *Time    `json:"closed_ms"`
	SentBytes     int64    `json:"sent_bytes"`
	ReceivedBytes int64    `json:"received_bytes"`
	Requests      int      `json:"requests"`
	MostInFlight  int      `json:"most_in_flight"`
	EndedBy       *string  `json:"ended_by"`
	Error         *string  `json:"error"`
	Streams       *Streams `json:"streams"`
}

// Streams is what was said of streams on a connection that multiplexes, and how they took turns.
type Streams struct {
	Told          map[string]uint32 `json:"told"`
	Acknowledged  bool              `json:"acknowledged"`
	Heard         map[string]uint32 `json:"heard"`
	DataFrames    int               `json:"data_frames"`
	Switches      int               `json:"switches"`
	RefusedPushes int               `json:"refused_pushes"`
}

// Push is written when a pushed answer has ended, one way or another.
type Push struct {
	Event           string  `json:"event"`
	Connection      int     `json:"connection"`
	Stream          uint32  `json:"stream"`
	Associated      uint32  `json:"associated"`
	Method          string  `json:"method"`
	URL             string  `json:"url"`
	Promised        Time    `json:"promised_ms"`
	FirstByte       *Time   `json:"first_byte_ms"`
	LastByte        *Time   `json:"last_byte_ms"`
	Status          *int    `json:"status"`
	HeaderBytes     int     `json:"header_bytes"`
	HeaderWireBytes int     `json:"header_wire_bytes"`
	BodyBytes       int64   `json:"body_bytes"`
	AdoptedBy       *int    `json:"adopted_by"`
	Adopted         *Time   `json:"adopted_ms"`
	Refused         *string `json:"refused"`
	Error           *string `json:"error"`
}

// Priority is the browser's (RFC 9218).
type Priority struct {
	Urgency     int  `json:"urgency"`
	Incremental bool `json:"incremental"`
}

// Request is written when a request has ended, one way or another.
type Request struct {
	Event                   string   `json:"event"`
	Request                 int      `json:"request"`
	Connection              *int     `json:"connection"`
	Stream                  *uint32  `json:"stream"`
	Method                  string   `json:"method"`
	URL                     string   `json:"url"`
	Protocol                string   `json:"protocol"`
	TLS                     *string  `json:"tls"`
	Reused                  bool     `json:"reused"`
	Priority                Priority `json:"priority"`
	WirePriority            *int     `json:"wire_priority"`
	Queued                  Time     `json:"queued_ms"`
	Sent                    *Time    `json:"sent_ms"`
	FirstByte               *Time    `json:"first_byte_ms"`
	LastByte                *Time    `json:"last_byte_ms"`
	Status                  *int     `json:"status"`
	RequestHeaderBytes      int      `json:"request_header_bytes"`
	RequestHeaderWireBytes  int      `json:"request_header_wire_bytes"`
	ResponseHeaderBytes     int      `json:"response_header_bytes"`
	ResponseHeaderWireBytes int      `json:"response_header_wire_bytes"`
	RequestBodyBytes        int64    `json:"request_body_bytes"`
	ResponseBodyBytes       int64    `json:"response_body_bytes"`
	InFlight                int      `json:"in_flight"`
	Tries                   int      `json:"tries"`
	SentAgain               []string `json:"sent_again"`
	Pushed                  bool     `json:"pushed"`
	Cancelled               bool     `json:"cancelled"`
	Error                   *string  `json:"error"`
}

// DNS is written when a name has been looked up over the link.
type DNS struct {
	Event     string   `json:"event"`
	Host      string   `json:"host"`
	Began     Time     `json:"began_ms"`
	Ended     Time     `json:"ended_ms"`
	Addresses []string `json:"addresses"`
	Error     *string  `json:"error"`
}
