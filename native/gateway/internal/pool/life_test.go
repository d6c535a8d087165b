package pool

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/dial"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/testkit"
)

func TestAConnectionIsLoggedOnce(t *testing.T) {
	f := withRoom(1)
	b := newBench(t, multiplexed, f)
	g := b.group(host)
	b.watch(g, g.conns[0])
	b.Close() // it does not end in time
	close(f.done)
	testkit.Eventually(t, "it has left the pool", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(g.conns) == 0
	})
	b.log.Close()
	text, err := os.ReadFile(b.path)
	if lines := strings.Count(string(text), `"event":"connection"`); err != nil || lines != 1 {
		t.Errorf("%v, %d times: %s", err, lines, text)
	}
}

// slowResolver knows that every name is at 127.0.0.1, and says so when it is let.
func slowResolver(t *testing.T) (address string, let chan<- bool) {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	may := make(chan bool)
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			select {
			case <-may:
			case <-t.Context().Done():
				return
			}
			var message dnsmessage.Message
			if message.Unpack(buffer[:n]) != nil || len(message.Questions) != 1 {
				continue
			}
			message.Response = true
			if question := message.Questions[0]; question.Type == dnsmessage.TypeA {
				message.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: question.Name, Class: question.Class}, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
				}}
			}
			if packed, err := message.Pack(); err == nil {
				socket.WriteTo(packed, from)
			}
		}
	}()
	return socket.LocalAddr().String(), may
}

func TestWhatWaitsForAnAddressKeepsItsOrder(t *testing.T) {
	resolver, let := slowResolver(t)
	f := withRoom(100)
	f.answer = func(int) (*exchange.Response, error) { return answered(), nil }
	wire := multiplexed
	wire.Coalescing = config.Address
	b := newBench(t, wire, f)
	b.names = dial.NewNames(&config.DNS{Mode: config.Resolver, Server: resolver, Hosts: config.Hosts{host: ""}}, b.log)
	b.groups["127.0.0.1"] = b.groups[host] // there is a connection to its address already
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := b.Begin(ctx, host, asking("GET"), NewRecord(b.log, 1, "GET", host, "h2", exchange.DefaultPriority))
	var tickets []*Ticket
	for i := range 30 {
		request := asking("GET")
		request.Path = fmt.Sprint("/", i)
		ticket, _ := b.begin(request)
		tickets = append(tickets, ticket)
	}
	cancel()
	if _, err := cancelled.Wait(); err == nil {
		t.Error("what was cancelled was answered")
	}
	close(let)
	for _, ticket := range tickets {
		if _, err := ticket.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.started) != len(tickets) {
		t.Errorf("%d were sent", len(f.started))
	}
	for i, request := range f.started {
		if request.Path != fmt.Sprint("/", i) {
			t.Fatalf("%s at place %d", request.Path, i)
		}
	}
}

// What has to be alone on a connection gets one, though others that may be put behind one another keep coming.
func TestWhatMustBeAloneIsNotStarved(t *testing.T) {
	first, second := withRoom(3), withRoom(2) // of 4: one and two requests are unanswered
	b := newBench(t, config.Wire{Protocol: config.HTTP1, Pipelining: 4, Keepalive: true}, first, second)
	g := b.group(host)
	g.policy.(*eager).lasting = true
	b.begin(asking("POST"))
	for range 3 {
		later := asking("GET")
		later.Priority.Urgency = 5
		b.begin(later)
	}
	if len(first.started) != 0 || len(second.started) != 3 {
		t.Errorf("%d on the one that would be idle soonest, %d on the other", len(first.started), len(second.started))
	}
	urgent := asking("GET")
	urgent.Priority.Urgency = 0
	b.begin(urgent) // before the POST in order: it may go anywhere
	if len(first.started) != 1 {
		t.Errorf("what is more urgent was held back: %d", len(first.started))
	}
	first.room.Store(4)
	b.kick()
	testkit.Eventually(t, "the POST is sent", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(first.started) == 2 && first.started[1].Method == "POST"
	})
}
