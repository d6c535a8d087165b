package dial

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// How often a question is asked, and how long an answer is waited for: the first time as long as Chromium, then twice as long each time. The
// link may have seconds of delay.
const (
	askedAtMost   = 4
	firstPatience = time.Second
	tcpPatience   = 15 * time.Second
)

var (
	errNoSuchName = errors.New("the name does not exist")
	errTruncated  = errors.New("the resolver's answer has no room in a packet, nor in a message")
	errAnotherID  = errors.New("an answer to somebody else")
)

// ask looks a name up as Chromium does: A and AAAA at the same time. IPv4 first, as the bed has it.
func ask(server, host string) ([]netip.Addr, error) {
	type answer struct {
		addresses []netip.Addr
		err       error
	}
	six := make(chan answer, 1)
	go func() {
		addresses, err := askFor(server, host, dnsmessage.TypeAAAA)
		six <- answer{addresses, err}
	}()
	addresses, err := askFor(server, host, dnsmessage.TypeA)
	other := <-six
	addresses = append(addresses, other.addresses...)
	if len(addresses) > 0 {
		return addresses, nil
	}
	if err == nil {
		err = errors.Join(other.err, errors.New("it has no address"))
	}
	return nil, fmt.Errorf("cannot look up %s at %s: %w", host, server, err)
}

func askFor(server, host string, kind dnsmessage.Type) (addresses []netip.Addr, err error) {
	name, err := dnsmessage.NewName(host + ".")
	if err != nil {
		return nil, err
	}
	question := dnsmessage.Question{Name: name, Type: kind, Class: dnsmessage.ClassINET}
	patience := firstPatience
	for range askedAtMost {
		var network net.Error
		addresses, err = askOver("udp", server, question, patience)
		if errors.Is(err, errTruncated) {
			return askOver("tcp", server, question, tcpPatience)
		}
		if !errors.As(err, &network) {
			return addresses, err
		}
		patience *= 2
	}
	return nil, err
}

func askOver(network, server string, question dnsmessage.Question, patience time.Duration) ([]netip.Addr, error) {
	conn, err := net.DialTimeout(network, server, patience)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	id := uint16(rand.Uint32())
	packet, err := query(question, id)
	if err != nil {
		return nil, err
	}
	read := readPacket
	if network == "tcp" {
		packet = append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)
		read = readMessage
	}
	if _, err := conn.Write(packet); err != nil {
		return nil, err
	}
	for {
		answer, err := read(conn)
		if err != nil {
			return nil, err
		}
		addresses, err := parseAnswer(answer, id, question)
		if !errors.Is(err, errAnotherID) {
			return addresses, err
		}
	}
}

func query(question dnsmessage.Question, id uint16) ([]byte, error) {
	message := dnsmessage.Message{
		Header: dnsmessage.Header{ID: id, RecursionDesired: true}, Questions: []dnsmessage.Question{question},
	}
	return message.Pack()
}

func readPacket(conn net.Conn) ([]byte, error) {
	packet := make([]byte, 4096)
	n, err := conn.Read(packet)
	return packet[:n], err
}

// readMessage reads what has its length before it, as in TCP.
func readMessage(conn net.Conn) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(conn, message)
	return message, err
}

// parseAnswer takes the addresses of the asked kind, whatever names lead to them.
func parseAnswer(packet []byte, id uint16, question dnsmessage.Question) (addresses []netip.Addr, err error) {
	if len(packet) < 2 || binary.BigEndian.Uint16(packet) != id {
		return nil, errAnotherID
	}
	var message dnsmessage.Message
	if err := message.Unpack(packet); err != nil {
		return nil, fmt.Errorf("the resolver's answer cannot be read: %w", err)
	}
	switch {
	case !message.Response || len(message.Questions) != 1 || message.Questions[0] != question:
		return nil, errors.New("the resolver answers another question")
	case message.Truncated:
		return nil, errTruncated
	case message.RCode == dnsmessage.RCodeNameError:
		return nil, errNoSuchName
	case message.RCode != dnsmessage.RCodeSuccess:
		return nil, fmt.Errorf("the resolver refuses: %v", message.RCode)
	}
	for _, resource := range message.Answers {
		switch found := resource.Body.(type) {
		case *dnsmessage.AResource:
			if question.Type == dnsmessage.TypeA {
				addresses = append(addresses, netip.AddrFrom4(found.A))
			}
		case *dnsmessage.AAAAResource:
			if question.Type == dnsmessage.TypeAAAA {
				addresses = append(addresses, netip.AddrFrom16(found.AAAA))
			}
		}
	}
	return addresses, nil
}
