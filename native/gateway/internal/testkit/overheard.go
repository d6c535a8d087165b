package testkit

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"testing"
)

// Unprobed is the largest datagram of a quic-go that has not looked for a larger one.
const Unprobed = 1280

// An Overheard is what clients send to a server of UDP, in whose place it listens.
type Overheard struct {
	Port int // where it does

	mu                     sync.Mutex
	count, largest, marked int
}

// Overhear hands datagrams on, to the server at a port of the loopback and back, until the test ends.
func Overhear(t testing.TB, server int) *Overheard {
	t.Helper()
	loopback := net.IPv4(127, 0, 0, 1)
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback})
	must(t, err)
	t.Cleanup(func() { front.Close() })
	must(t, tellMarks(front))
	o := &Overheard{Port: PortUDP(front.LocalAddr())}
	go o.listen(front, &net.UDPAddr{IP: loopback, Port: server})
	return o
}

// PortUDP of an address.
func PortUDP(address net.Addr) int { return address.(*net.UDPAddr).Port }

// tellMarks has the kernel tell, with each datagram, the byte of its head that ECN's marks are in.
func tellMarks(socket *net.UDPConn) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	control := raw.Control(func(descriptor uintptr) {
		err = syscall.SetsockoptInt(int(descriptor), syscall.IPPROTO_IP, syscall.IP_RECVTOS, 1)
	})
	return errors.Join(control, err)
}

func (o *Overheard) listen(front *net.UDPConn, server *net.UDPAddr) {
	behind := map[netip.AddrPort]*net.UDPConn{}
	defer func() {
		for _, socket := range behind {
			socket.Close()
		}
	}()
	buffer, told := make([]byte, 64<<10), make([]byte, 256)
	for {
		n, toldBytes, _, client, err := front.ReadMsgUDPAddrPort(buffer, told)
		if err != nil {
			return // the test is over
		}
		o.note(n, told[:toldBytes])
		if behind[client] == nil {
			socket, err := net.DialUDP("udp4", nil, server)
			if err != nil {
				return
			}
			behind[client] = socket
			go handBack(front, socket, client)
		}
		_, _ = behind[client].Write(buffer[:n])
	}
}

func handBack(front, behind *net.UDPConn, client netip.AddrPort) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := behind.Read(buffer)
		switch {
		case err == nil:
			_, _ = front.WriteToUDPAddrPort(buffer[:n], client)
		case !errors.Is(err, syscall.ECONNREFUSED): // that is of a server that has ended before its clients
			return
		}
	}
}

func (o *Overheard) note(size int, told []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	o.largest = max(o.largest, size)
	if isMarked(told) {
		o.marked++
	}
}

func isMarked(told []byte) bool {
	messages, err := syscall.ParseSocketControlMessage(told)
	if err != nil {
		return false
	}
	for _, message := range messages {
		if message.Header.Level == syscall.IPPROTO_IP && message.Header.Type == syscall.IP_TOS && message.Data[0]&3 != 0 {
			return true
		}
	}
	return false
}

// Extra tells whether a client has probed the path for larger packets, and whether it has marked a packet for ECN.
func (o *Overheard) Extra() (probed, marked bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.largest > Unprobed, o.marked > 0
}

// RequirePlain fails the test where one has, or where nothing was heard.
func (o *Overheard) RequirePlain(t testing.TB) {
	t.Helper()
	probed, marked := o.Extra()
	o.mu.Lock()
	defer o.mu.Unlock()
	if probed || marked || o.count == 0 {
		t.Errorf("of %d datagrams the largest has %d bytes, and %d are marked", o.count, o.largest, o.marked)
	}
}
