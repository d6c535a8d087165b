package spdy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"lanelab/gateway/internal/exchange"
)

// Field is one header field. Pseudo-fields (":status"; "status" in SPDY/2) are fields as any other here.
type Field = exchange.Field

// errBlockCut: the structure of a header block ends before its fields do. Since the block's end is known only through its frame, nothing is
// certain about the compression's state either, so that this ends the session.
var errBlockCut = errors.New("the header block ends before its fields")

// fieldsError: a header block that can be read, whose fields break a rule. It ends the stream only.
type fieldsError struct{ reason string }

func (e *fieldsError) Error() string { return e.reason }

// appendBlock appends the fields as they are before compression. Fields of one name become one, at the place of the first: their values are
// joined with NUL as the drafts say, those of `cookie` with "; " (RFC 6265 knows one such field per request).
func appendBlock(block []byte, version Version, fields []Field) []byte {
	merged := mergeFields(version, fields)
	block = appendSize(block, version, len(merged))
	for _, field := range merged {
		block = append(appendSize(block, version, len(field.Name)), field.Name...)
		block = append(appendSize(block, version, len(field.Value)), field.Value...)
	}
	return block
}

func mergeFields(version Version, fields []Field) []Field {
	merged := make([]Field, 0, len(fields))
	places := make(map[string]int, len(fields))
	for _, field := range fields {
		name := strings.ToLower(field.Name)
		place, known := places[name]
		switch {
		case !known:
			places[name] = len(merged)
			merged = append(merged, Field{Name: name, Value: field.Value})
		case name == "cookie":
			merged[place].Value += "; " + field.Value
		case field.Value == "" || merged[place].Value == "":
			merged[place].Value += field.Value // an empty value beside another says nothing, and NUL may not stand at an end
		default:
			merged[place].Value += "\x00" + field.Value
		}
	}
	if version == V2 {
		for i := range merged {
			if merged[i].Value == "" {
				merged[i].Value = " " // SPDY/2 has no empty values; HTTP ignores spaces around one
			}
		}
	}
	return merged
}

func appendSize(block []byte, version Version, size int) []byte {
	if version == V2 {
		return binary.BigEndian.AppendUint16(block, uint16(size))
	}
	return appendWord(block, uint32(size))
}

// blockFits says whether the fields fit into a frame, and their sizes into the version's size fields (16 bits in SPDY/2).
func blockFits(version Version, fields []Field) bool {
	if HeaderSize(fields)+4*len(fields) > maxFrameBytes/2 {
		return false
	}
	if version != V2 {
		return true
	}
	for _, field := range mergeFields(version, fields) {
		if len(field.Name) > 0xffff || len(field.Value) > 0xffff {
			return false
		}
	}
	return len(fields) <= 0xffff
}

// parseBlock reads an expanded header block. Values joined with NUL become several fields.
func parseBlock(version Version, block []byte) ([]Field, error) {
	reader := blockReader{version: version, rest: block}
	count := reader.size()
	if reader.cut || count > len(block)/2 { // each field has two sizes at least
		return nil, errBlockCut
	}
	fields := make([]Field, 0, count)
	seen := make(map[string]bool, count)
	var wrong error
	for range count {
		name, value := reader.text(), reader.text()
		if reader.cut {
			return nil, errBlockCut
		}
		lower := strings.ToLower(name) // some servers keep the capitals that an application gave
		switch {
		case name == "":
			wrong = &fieldsError{"a header field has no name"}
		case seen[lower]:
			wrong = &fieldsError{fmt.Sprintf("the header field %q comes twice", lower)}
		}
		seen[lower] = true
		for part := range strings.SplitSeq(value, "\x00") {
			fields = append(fields, Field{Name: lower, Value: part})
		}
	}
	if wrong == nil && len(reader.rest) > 0 {
		wrong = &fieldsError{fmt.Sprintf("%d bytes follow the last header field", len(reader.rest))}
	}
	return fields, wrong
}

type blockReader struct {
	version Version
	rest    []byte
	cut     bool
}

func (r *blockReader) size() int {
	width := 4
	if r.version == V2 {
		width = 2
	}
	bytes := r.take(width)
	switch {
	case r.cut:
		return 0
	case width == 2:
		return int(binary.BigEndian.Uint16(bytes))
	}
	return int(binary.BigEndian.Uint32(bytes))
}

func (r *blockReader) text() string { return string(r.take(r.size())) }

func (r *blockReader) take(size int) []byte {
	if r.cut || size > len(r.rest) {
		r.cut = true
		return nil
	}
	taken := r.rest[:size]
	r.rest = r.rest[size:]
	return taken
}

// HeaderSize is what fields are before compression, as `name: value` lines.
func HeaderSize(fields []Field) int {
	size := 0
	for _, field := range fields {
		size += len(field.Name) + len(field.Value) + len(": \r\n")
	}
	return size
}
