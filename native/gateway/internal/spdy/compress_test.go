package spdy

import (
	"bytes"
	"compress/zlib"
	"errors"
	"hash/adler32"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// The dictionaries' checksums stand in the first bytes of every peer's header compression.
func TestDictionaries(t *testing.T) {
	for version, want := range map[Version]uint32{V2: 0xdfa251b2, V3: 0xe3c6a7c2, V31: 0xe3c6a7c2} {
		if got := adler32.Checksum(version.dictionary()); got != want {
			t.Errorf("%s: the dictionary's checksum is %08x, not %08x", version, got, want)
		}
	}
	if len(dictionary2) != 907 || len(dictionary3) != 1423 {
		t.Errorf("the dictionaries have %d and %d bytes", len(dictionary2), len(dictionary3))
	}
}

func TestBlocksFollowEachOther(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		compressor, expander := newCompressor(version, 9), newExpander(version)
		defer expander.close()
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 40 {
			block := make([]byte, random.IntN(1<<random.IntN(17)))
			for j := range block {
				block[j] = "abc:/?.="[random.IntN(8)]
			}
			got, err := expander.expand(bytes.Clone(compressor.compress(block)), 1<<17)
			if err != nil || !bytes.Equal(got, block) {
				t.Fatalf("block %d of %d bytes came back as %d bytes, %v", i, len(block), len(got), err)
			}
		}
	})
}

func TestSecondBlockIsSmaller(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		compressor := newCompressor(version, 9)
		block := appendBlock(nil, version, []Field{{Name: "x", Value: "a value that the dictionary does not have, zyxwvutsrq"}})
		first := len(compressor.compress(block))
		if second := len(compressor.compress(block)); second >= first/2 {
			t.Errorf("a block has %d bytes, and a second time %d", first, second)
		}
	})
}

// Each level can be read, and more effort makes less.
func TestLevels(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		block := appendBlock(nil, version, version.RequestFields(RequestHead{"GET", "https", "a.example", "/index.html", []Field{
			{Name: "accept", Value: "text/html,application/xhtml+xml"}, {Name: "accept-encoding", Value: "gzip, deflate"}, {Name: "accept-language", Value: "en"},
		}}))
		sizes := make([]int, 10)
		for level := range sizes {
			compressor, expander := newCompressor(version, level), newExpander(version)
			for range 3 {
				wire := bytes.Clone(compressor.compress(block))
				sizes[level] += len(wire)
				if got, err := expander.expand(wire, 1<<16); err != nil || !bytes.Equal(got, block) {
					t.Errorf("level %d: came back as %q, %v", level, got, err)
				}
			}
			expander.close()
		}
		if sizes[0] <= 3*len(block) || sizes[9] >= sizes[1] || sizes[1] >= sizes[0] {
			t.Errorf("3 blocks of %d bytes have %v, by level", len(block), sizes)
		}
	})
}

func TestBlockThatExpandsTooFar(t *testing.T) {
	expander := newExpander(V3)
	defer expander.close()
	_, err := expander.expand(newCompressor(V3, 9).compress(make([]byte, 1<<20)), 1000)
	if !errors.Is(err, errTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, again := expander.expand([]byte{0}, 1000); again == nil {
		t.Error("after an error a block could be read")
	}
}

func TestBlocksThatCannotBeExpanded(t *testing.T) {
	var ended bytes.Buffer
	writer, _ := zlib.NewWriterLevelDict(&ended, 6, dictionary3)
	_, _ = writer.Write([]byte("x"))
	_ = writer.Close()
	wrong := bytes.Clone(newCompressor(V3, 9).compress([]byte("some text")))
	wrong[7] ^= 0xff
	for name, block := range map[string][]byte{
		"no zlib":            []byte("GET / HTTP/1.1\r\n"),
		"another dictionary": newCompressor(V2, 9).compress([]byte("x")),
		"a stream that ends": ended.Bytes(),
		"a wrong bit":        wrong,
	} {
		expander := newExpander(V3)
		content, err := expander.expand(block, 1000)
		if err == nil && string(content) == "some text" {
			t.Errorf("%s: was expanded", name)
		}
		if name != "a wrong bit" && err == nil {
			t.Errorf("%s: there was no error", name)
		}
		expander.close()
	}
}

func TestFieldsOfOneName(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		block := appendBlock(nil, version, []Field{
			{Name: "Cookie", Value: "a=1"}, {Name: "x", Value: "1"}, {Name: "cookie", Value: "b=2"}, {Name: "X", Value: "2"}, {Name: "y", Value: "z"},
		})
		got, err := parseBlock(version, block)
		want := []Field{{Name: "cookie", Value: "a=1; b=2"}, {Name: "x", Value: "1"}, {Name: "x", Value: "2"}, {Name: "y", Value: "z"}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestEmptyValues(t *testing.T) {
	for version, want := range map[Version]string{V2: " ", V3: "", V31: ""} {
		got, err := parseBlock(version, appendBlock(nil, version, []Field{{Name: "x"}}))
		if err != nil || got[0].Value != want {
			t.Errorf("%s: got %q, %v", version, got, err)
		}
	}
}

func TestBlocksThatAreWrong(t *testing.T) {
	for name, c := range map[string]struct {
		block string
		cut   bool
	}{
		"nothing":                        {"", true},
		"half a count":                   {"\x00", true},
		"fewer fields":                   {"\x00\x02\x00\x01a\x00\x01b", true},
		"a short value":                  {"\x00\x01\x00\x01a\x00\x05b", true},
		"more than fields":               {"\x00\x01\x00\x01a\x00\x01bc", false},
		"no name":                        {"\x00\x01\x00\x00\x00\x01b", false},
		"a name twice":                   {"\x00\x02\x00\x01a\x00\x01b\x00\x01a\x00\x01b", false},
		"a name twice, once in capitals": {"\x00\x02\x00\x01a\x00\x01b\x00\x01A\x00\x01b", false},
	} {
		_, err := parseBlock(V2, []byte(c.block))
		if err == nil || errors.Is(err, errBlockCut) != c.cut {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestSizesThatDoNotFit(t *testing.T) {
	long := []Field{{Name: "x", Value: strings.Repeat("y", 0x10000)}}
	if blockFits(V2, long) || !blockFits(V3, long) {
		t.Error("a value of 64 KiB must fit into SPDY/3's sizes and not into SPDY/2's")
	}
	session := newTestSession(t, ClientRole, V2)
	if _, _, err := session.Request(long, 0, true); err == nil || session.OpenStreams() != 0 {
		t.Errorf("a request that cannot be written was opened: %v", err)
	}
}
