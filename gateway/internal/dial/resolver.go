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
)

// errNoSuchName: the resolver says so.
var errNoSuchName = errors.New("the name does not exist")

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

func askFor(server, host string, kind dnsmessage.Type) ([]netip.Addr, error) {
	name, err := dnsmessage.NewName(host + ".")
	if err != nil {
		return nil, err
	}
	question := dnsmessage.Question{Name: name, Type: kind, Class: dnsmessage.ClassINET}
	patience := firstPatience
	for range askedAtMost {
		var message []byte
		message, err = exchangeUDP(server, question, patience)
		if err == nil {
			addresses, truncated, err := parseAnswer(message, question)
			if truncated {
				return askTCP(server, question)
			}
			return addresses, err
		}
		patience *= 2
	}
	return nil, err
}

func query(question dnsmessage.Question, id uint16) ([]byte, error) {
	message := dnsmessage.Message{
		Header: dnsmessage.Header{ID: id, RecursionDesired: true}, Questions: []dnsmessage.Question{question},
	}
	return message.Pack()
}

func exchangeUDP(server string, question dnsmessage.Question, patience time.Duration) ([]byte, error) {
	conn, err := net.Dial("udp", server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	id := uint16(rand.Uint32())
	packet, err := query(question, id)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(packet); err != nil {
		return nil, err
	}
	conn.SetReadDeadline(time.Now().Add(patience))
	answer := make([]byte, 4096)
	for {
		n, err := conn.Read(answer)
		if err != nil {
			return nil, err
		}
		if n >= 12 && binary.BigEndian.Uint16(answer) == id {
			return answer[:n], nil
		}
	}
}

func askTCP(server string, question dnsmessage.Question) ([]netip.Addr, error) {
	conn, err := net.DialTimeout("tcp", server, 15*time.Second)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(15 * time.Second))
	packet, err := query(question, 1)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)); err != nil {
		return nil, err
	}
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, err
	}
	addresses, _, err := parseAnswer(answer, question)
	return addresses, err
}

// parseAnswer takes the addresses of the asked kind, whatever names lead to them.
func parseAnswer(packet []byte, question dnsmessage.Question) (addresses []netip.Addr, truncated bool, err error) {
	var message dnsmessage.Message
	if err := message.Unpack(packet); err != nil {
		return nil, false, fmt.Errorf("the resolver's answer cannot be read: %w", err)
	}
	switch {
	case !message.Response || len(message.Questions) != 1 || message.Questions[0] != question:
		return nil, false, errors.New("the resolver answers another question")
	case message.Truncated:
		return nil, true, nil
	case message.RCode == dnsmessage.RCodeNameError:
		return nil, false, errNoSuchName
	case message.RCode != dnsmessage.RCodeSuccess:
		return nil, false, fmt.Errorf("the resolver refuses: %v", message.RCode)
	}
	for _, resource := range message.Answers {
		switch found := resource.Body.(type) {
		case *dnsmessage.AResource:
			addresses = append(addresses, netip.AddrFrom4(found.A))
		case *dnsmessage.AAAAResource:
			addresses = append(addresses, netip.AddrFrom16(found.AAAA))
		}
	}
	return addresses, false, nil
}
