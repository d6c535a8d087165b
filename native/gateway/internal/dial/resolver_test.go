package dial

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// answers gives what a resolver says to a question, packet by packet.
type answers func(question dnsmessage.Message) [][]byte

// resolver answers in UDP, and in TCP on the same port.
func resolver(t *testing.T, udp, tcp answers) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	packets, err := net.ListenPacket("udp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { packets.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			for _, packet := range udp(parsed(t, buffer[:n])) {
				packets.WriteTo(packet, from)
			}
		}
	}()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if message, err := readMessage(conn); err == nil {
				for _, answer := range tcp(parsed(t, message)) {
					conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
				}
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

func parsed(t *testing.T, packet []byte) (message dnsmessage.Message) {
	if err := message.Unpack(packet); err != nil {
		t.Error(err)
	}
	return message
}

// answer is the right one to a question, but for what change does to it.
func answer(question dnsmessage.Message, change func(*dnsmessage.Message), bodies ...dnsmessage.ResourceBody) []byte {
	question.Response = true
	for _, body := range bodies {
		question.Answers = append(question.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: question.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 60}, Body: body,
		})
	}
	if change != nil {
		change(&question)
	}
	packet, err := question.Pack()
	if err != nil {
		panic(err)
	}
	return packet
}

func v4(last byte) dnsmessage.ResourceBody { return &dnsmessage.AResource{A: [4]byte{10, 0, 0, last}} }

func v6(last byte) dnsmessage.ResourceBody {
	return &dnsmessage.AAAAResource{AAAA: [16]byte{0: 0xfd, 15: last}}
}

func alias(to string) dnsmessage.ResourceBody {
	return &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(to)}
}

// always answers with packets that are made of each question.
func always(packets ...func(dnsmessage.Message) []byte) answers {
	return func(question dnsmessage.Message) (all [][]byte) {
		for _, packet := range packets {
			all = append(all, packet(question))
		}
		return all
	}
}

func with(change func(*dnsmessage.Message), bodies ...dnsmessage.ResourceBody) func(dnsmessage.Message) []byte {
	return func(question dnsmessage.Message) []byte { return answer(question, change, bodies...) }
}

func truncated(m *dnsmessage.Message) { m.Truncated = true }

func anotherID(m *dnsmessage.Message) { m.ID++ }

// loop is an answer whose name points to itself.
func loop(question dnsmessage.Message) []byte {
	packet := answer(question, func(m *dnsmessage.Message) { m.Answers = nil })
	binary.BigEndian.PutUint16(packet[6:], 1) // one answer
	at := len(packet)
	return append(packet, 0xc0|byte(at>>8), byte(at), 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 0, 1)
}

func TestWhatResolversSay(t *testing.T) {
	both := func(question dnsmessage.Message) []byte {
		if question.Questions[0].Type == dnsmessage.TypeA {
			return answer(question, nil, v4(1), v6(9))
		}
		return answer(question, nil, v6(1), v4(9))
	}
	many := make([]dnsmessage.ResourceBody, 3000)
	for i := range many {
		many[i] = v4(byte(i))
	}
	for name, c := range map[string]struct {
		udp, tcp answers
		says     string // an error's
		count    int    // of addresses
		first    string
	}{
		"addresses of both kinds, IPv4 first": {always(both), nil, "", 2, "10.0.0.1"},
		"answers to others before":            {always(with(anotherID, v4(7)), func(dnsmessage.Message) []byte { return nil }, both), nil, "", 2, "10.0.0.1"},
		"names that lead to others":           {always(with(nil, alias("b.example."), alias("c.example."), v4(5))), nil, "", 1, "10.0.0.5"},
		"too much for a packet":               {always(with(truncated)), always(with(nil, many...)), "", 3000, "10.0.0.0"},
		"too much for anything":               {always(with(truncated)), always(with(truncated)), "no room", 0, ""},
		"TCP that answers another":            {always(with(truncated)), always(with(anotherID, v4(1))), "EOF", 0, ""},
		"TCP that says nothing":               {always(with(truncated)), always(), "EOF", 0, ""},
		"no such name":                        {always(with(func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeNameError })), nil, "does not exist", 0, ""},
		"a refusal":                           {always(with(func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeRefused })), nil, "refuses", 0, ""},
		"no address":                          {always(with(nil, alias("b.example."))), nil, "no address", 0, ""},
		"another question": {always(with(func(m *dnsmessage.Message) { m.Questions[0].Name = dnsmessage.MustNewName("b.example.") }, v4(1))),
			nil, "another question", 0, ""},
		"a question":         {always(with(func(m *dnsmessage.Message) { m.Response = false }, v4(1))), nil, "another question", 0, ""},
		"a name in a circle": {always(loop), nil, "cannot be read", 0, ""},
		"half an answer":     {always(func(q dnsmessage.Message) []byte { return answer(q, nil, v4(1))[:30] }), nil, "cannot be read", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			addresses, err := ask(resolver(t, c.udp, c.tcp), "a.example")
			if c.says == "" && (err != nil || len(addresses) != c.count || addresses[0].String() != c.first) {
				t.Errorf("%d addresses, %v", len(addresses), err)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%v, %v", addresses, err)
			}
		})
	}
}

// Packets get lost: what is not answered is asked again.
func TestQuestionsAreAskedAgain(t *testing.T) {
	asked := map[dnsmessage.Type]int{}
	address := resolver(t, func(question dnsmessage.Message) [][]byte {
		kind := question.Questions[0].Type
		if asked[kind]++; asked[kind] == 1 {
			return nil
		}
		return [][]byte{answer(question, nil, v4(1))}
	}, nil)
	addresses, err := ask(address, "a.example")
	if want := []netip.Addr{netip.MustParseAddr("10.0.0.1")}; err != nil || !reflect.DeepEqual(addresses, want) {
		t.Errorf("%v, %v", addresses, err)
	}
}

func TestNoResolver(t *testing.T) {
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets.Close()
	if addresses, err := ask(packets.LocalAddr().String(), "a.example"); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v, %v", addresses, err)
	}
}

// Whatever a resolver says, it is read or refused: addresses are of the kind that was asked for, and come with the question's number only.
func FuzzResolverAnswer(f *testing.F) {
	const id = 0x1234
	question := dnsmessage.Question{Name: dnsmessage.MustNewName("a.example."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}
	asked := dnsmessage.Message{Header: dnsmessage.Header{ID: id}, Questions: []dnsmessage.Question{question}}
	for _, packet := range [][]byte{
		answer(asked, nil, v4(1), v6(2)), answer(asked, nil, alias("b.example."), v4(1)), answer(asked, truncated), loop(asked),
		answer(asked, anotherID, v4(1)),
	} {
		f.Add(packet)
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		addresses, err := parseAnswer(packet, id, question)
		if ours := len(packet) >= 2 && binary.BigEndian.Uint16(packet) == id; errors.Is(err, errAnotherID) == ours {
			t.Errorf("its number: %v", err)
		}
		if err != nil && len(addresses) > 0 || len(addresses) > len(packet)/16 {
			t.Errorf("%d addresses of %d bytes, %v", len(addresses), len(packet), err)
		}
		for _, address := range addresses {
			if !address.Is4() {
				t.Errorf("%v was not asked for", address)
			}
		}
	})
}
