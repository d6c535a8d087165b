package spdy

import (
	"fmt"
	"slices"
	"testing"
)

// upload opens a stream of a priority and queues a body of some DATA frames.
func upload(t *testing.T, session *Session, priority uint8, frames int) uint32 {
	t.Helper()
	id, _, err := session.Request(nil, priority, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Write(id, make([]byte, frames*dataFrameBytes), true); err != nil {
		t.Fatal(err)
	}
	return id
}

func order(frames []Frame) string {
	text := ""
	for _, frame := range frames {
		switch f := frame.(type) {
		case SynStream:
			text += fmt.Sprintf("S%d ", f.StreamID)
		case Data:
			text += fmt.Sprintf("D%d ", f.StreamID)
		case Ping:
			text += "P "
		}
	}
	return text
}

func TestWhatIsUrgentIsSentFirst(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		session := newTestSession(t, ClientRole, version)
		p := newRawPeer(t, session)
		upload(t, session, 3, 2)
		upload(t, session, 0, 1)
		upload(t, session, 1, 1)
		upload(t, session, 3, 2)
		session.queue(Ping{1})
		want := "S1 S3 S5 S7 P D3 D5 D1 D7 D1 D7 "
		if got := order(p.said()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// What becomes urgent while something else is being sent has to wait for one frame of it only.
func TestUrgentStreamOvertakes(t *testing.T) {
	session := newTestSession(t, ClientRole, V2)
	p := newRawPeer(t, session)
	upload(t, session, 3, 50)
	first, err := decodeAll(p.decoder, session.Produce(nil, dataFrameBytes).Bytes, 1<<20)
	if err != nil || len(first) != 2 {
		t.Fatalf("got %s, %v", order(first), err)
	}
	urgent := upload(t, session, 0, 2)
	if got, want := order(p.said()[:4]), fmt.Sprintf("S%d D%d D%d D1 ", urgent, urgent, urgent); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A stream whose window is used up does not hold up those of a lower priority.
func TestBlockedStreamIsPassedOver(t *testing.T) {
	session := newTestSession(t, ClientRole, V3)
	p := newRawPeer(t, session)
	upload(t, session, 0, 10)
	p.said()
	low := upload(t, session, 7, 1)
	if got, want := order(p.said()), fmt.Sprintf("S%d D%d ", low, low); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestResetTakesBackWhatIsQueued(t *testing.T) {
	session := newTestSession(t, ClientRole, V2)
	p := newRawPeer(t, session)
	first := upload(t, session, 0, 10)
	second := upload(t, session, 0, 1)
	session.Reset(first, Cancel)
	if got, want := order(p.said()), fmt.Sprintf("S%d S%d D%d ", first, second, second); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDrainedAndOpenedAreTold(t *testing.T) {
	session := newTestSession(t, ClientRole, V31)
	session.Produce(nil, 1000)
	id := upload(t, session, 0, 2)
	produced := session.Produce(nil, 10)
	if fmt.Sprint(produced.Opened) != fmt.Sprint([]uint32{id}) || len(produced.Drained) != 0 {
		t.Errorf("first: %v, %v", produced.Opened, produced.Drained)
	}
	session.Produce(nil, 10)
	produced = session.Produce(nil, 10)
	if len(produced.Opened) != 0 || session.Pending() {
		t.Errorf("last: %v, %t", produced.Opened, session.Pending())
	}
}

// An upload is cut as Chromium cut it.
func TestDataFramesFillTwoPackets(t *testing.T) {
	eachVersion(t, func(t *testing.T, version Version) {
		session := newTestSession(t, ClientRole, version)
		p := newRawPeer(t, session)
		id, _, err := session.Request(nil, 0, false)
		if err == nil {
			err = session.Write(id, make([]byte, 2852*2+1), true)
		}
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for _, frame := range p.said() {
			if data, is := frame.(Data); is {
				sizes = append(sizes, len(data.Payload))
			}
		}
		if !slices.Equal(sizes, []int{2852, 2852, 1}) {
			t.Errorf("frames of %v bytes", sizes)
		}
	})
}
