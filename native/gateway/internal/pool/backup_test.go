package pool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/testkit"
)

// A deafListener has a queue of one, which is full: Linux drops every SYN, until somebody accepts.
type deafListener struct {
	net.Listener
	t *testing.T
}

func newDeafListener(t *testing.T) *deafListener {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(socket, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(socket), "listener")
	defer file.Close()
	listener, err := net.FileListener(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	first, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { first.Close() })
	return &deafListener{listener, t}
}

// asked waits until a SYN has been sent that nobody answers.
func (d *deafListener) asked() {
	const sent = " 02 " // the state, in /proc
	port := fmt.Sprintf(":%04X", testkit.Port(d.Addr()))
	testkit.Eventually(d.t, "a SYN was sent", func() bool {
		table, _ := os.ReadFile("/proc/net/tcp")
		for line := range strings.Lines(string(table)) {
			if fields := strings.Fields(line); len(fields) > 3 && strings.HasSuffix(fields[2], port) && " "+fields[3]+" " == sent {
				return true
			}
		}
		return false
	})
}

// hear answers every SYN from now on, and every request of HTTP/1.1 with its path.
func (d *deafListener) hear() {
	go func() {
		for {
			conn, err := d.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				reader := bufio.NewReader(conn)
				for {
					request, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(request.URL.Path), request.URL.Path)
				}
			}()
		}
	}()
}

// hold answers every SYN from now on, and says nothing.
func (d *deafListener) hold() {
	go func() {
		for {
			conn, err := d.Accept()
			if err != nil {
				return
			}
			d.t.Cleanup(func() { conn.Close() })
		}
	}()
}

// late is a pool whose only host does not answer a SYN yet.
func late(t *testing.T, wire config.Wire) (*bench, *deafListener) {
	t.Helper()
	listener := newDeafListener(t)
	b := newBench(t, wire)
	b.wire.Port, b.wire.ConnectionsPerHost, b.wire.BackupConnections, b.wire.Keepalive = testkit.Port(listener.Addr()), 6, true, true
	return b, listener
}

func (b *bench) state(look func(*group) bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return look(b.group(host))
}

func TestASecondConnectionIsBegunWhereTheFirstIsLate(t *testing.T) {
	b, listener := late(t, config.Wire{Protocol: config.HTTP1, Pipelining: 1})
	ticket, _ := b.begin(asking("GET"))
	listener.asked()
	listener.hear() // what comes now is heard at once; the first is said again after a second
	response, err := ticket.Wait()
	if err != nil || response.Status != 200 {
		t.Fatalf("%v %v", response, err)
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
	testkit.Eventually(t, "both are connected, and one waits", func() bool {
		return b.state(func(g *group) bool { return len(g.conns) == 2 && len(g.connecting) == 0 })
	})
	b.state(func(g *group) bool {
		if backups := [2]bool{g.conns[0].backup, g.conns[1].backup}; backups[0] == backups[1] || g.connecting[3] != nil {
			t.Errorf("%v", backups)
		}
		return true
	})
	if b.log.Connections() != 2 {
		t.Errorf("%d connections were begun", b.log.Connections())
	}
}

func TestNoSecondConnectionWithoutNeed(t *testing.T) {
	for what, one := range map[string]struct {
		change func(*config.Wire)
		ask    bool
	}{
		"nobody waits":  {func(*config.Wire) {}, false},
		"it is not set": {func(w *config.Wire) { w.BackupConnections = false }, true},
	} {
		b, listener := late(t, config.Wire{Protocol: config.HTTP1, Pipelining: 1})
		b.Pool.wait = time.Millisecond
		one.change(b.wire)
		if one.ask {
			b.begin(asking("GET"))
		} else {
			b.withGroup(host, func(g *group, _ error) { b.connect(g, host) })
		}
		listener.asked()
		testkit.Eventually(t, "the time is over", func() bool { return b.state(func(g *group) bool { return g.backup == nil }) })
		if b.state(func(g *group) bool { return len(g.connecting) != 1 }) {
			t.Errorf("%s: and yet there are two", what)
		}
	}
}

// With a protocol of which one connection carries all, the one that was not needed stays without a word, and is the next that is needed.
func TestASpareIsTheNextConnection(t *testing.T) {
	b, listener := late(t, config.Wire{Protocol: config.H2, Pipelining: 1})
	b.begin(asking("GET"))
	listener.asked()
	listener.hold()
	testkit.Eventually(t, "one is used and one aside", func() bool {
		return b.state(func(g *group) bool { return len(g.spares) == 1 && len(g.connecting) == 0 })
	})
	var number int
	b.state(func(g *group) bool {
		number = g.spares[0].number
		b.connect(g, host)
		return true
	})
	testkit.Eventually(t, "it is used", func() bool {
		return b.state(func(g *group) bool { return len(g.spares) == 0 && len(g.connecting) == 0 })
	})
	if b.log.Connections() != 2 {
		t.Errorf("%d were begun; number %d was aside", b.log.Connections(), number)
	}
}

func TestASpareThatTheServerClosesIsNone(t *testing.T) {
	b, _ := late(t, config.Wire{Protocol: config.H2, Pipelining: 1})
	near, far := testkit.Pair(t)
	g := b.group(host)
	b.mu.Lock()
	c := &wireConn{number: 7, host: host, dialled: dial.NoConn(), backup: true}
	c.dialled.Conn = near
	b.setAside(g, c)
	b.mu.Unlock()
	far.Close()
	testkit.Eventually(t, "it is gone", func() bool { return b.state(func(g *group) bool { return len(g.spares) == 0 }) })
	b.log.Close()
	text, err := os.ReadFile(b.path)
	if err != nil || !strings.Contains(string(text), `"backup":true`) || !strings.Contains(string(text), `"ended_by":"server"`) {
		t.Errorf("%v: %s", err, text)
	}
}

// begun is a connection that is on its way; the test says when it arrives.
func (b *bench) begun(number int, backup bool) *making {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &making{number: number, host: host, backup: backup, resolved: true}
	b.group(host).connecting[number] = m
	return m
}

// Once a backup goes on in its place, a connection that is late is nobody's: that it fails is no request's end.
func TestWhatIsLateIsTheBackup(t *testing.T) {
	b, listener := late(t, config.Wire{Protocol: config.HTTP1, Pipelining: 1})
	b.wire.ConnectionsPerHost = 2
	listener.hear()
	g, first, second := b.group(host), b.begun(7, false), b.begun(8, true)
	one, _ := b.begin(asking("GET"))
	b.establish(g, second, true)
	answer, err := one.Wait()
	if err != nil || !first.backup || second.backup || !b.state(func(g *group) bool { return g.conns[0].backup }) {
		t.Fatalf("%v; %+v, %+v", err, first, second)
	}
	other, _ := b.begin(asking("GET")) // the first one's answer has not been read: its connection is in use
	if b.Waiting() != 1 {
		t.Fatal("there are more than two")
	}
	b.join(g, first, nil, errors.New("it never came"))
	if response, err := other.Wait(); err != nil || response.Status != 200 {
		t.Errorf("%v %v", response, err)
	}
	answer.Body.Close()
}

// Who waits while a connection that nobody needed is on its way gets it, though nothing else happens.
func TestALateConnectionIsForWhoWaitsThen(t *testing.T) {
	b, listener := late(t, config.Wire{Protocol: config.HTTP1, Pipelining: 1})
	b.wire.ConnectionsPerHost, b.wire.TLS = 1, "1.3"
	listener.hear()
	last := b.begun(7, true)
	ticket, _ := b.begin(asking("GET"))
	if b.Waiting() != 1 {
		t.Fatal("there is more than one")
	}
	b.establish(b.group(host), last, false)
	if _, err := ticket.Wait(); err == nil || !strings.Contains(err.Error(), "no TLS") { // it was used: nobody speaks TLS there
		t.Error(err)
	}
}
