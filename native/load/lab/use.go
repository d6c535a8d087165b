package lab

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the clock that other processes of this machine have, too.
func monotonic() float64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err) // there is no Linux without it
	}
	return float64(now.Nano()) / 1e9
}

// raiseFiles lets this process open as many files as its user may.
func raiseFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}

func filesAllowed() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int64(min(limit.Cur, 1<<31))
}

// portsAllowed is how many connections one address can have to one port of another.
func portsAllowed() (int64, error) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, err
	}
	words := strings.Fields(string(text))
	first, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return 0, err
	}
	last, err := strconv.ParseInt(words[1], 10, 64)
	return last - first + 1, err
}

// A use is what this process has of the machine.
type use struct {
	cpu           time.Duration
	files, memory int64
}

func useNow() (use, error) {
	var spent syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &spent); err != nil {
		return use{}, err
	}
	files, err := filesOpen()
	if err != nil {
		return use{}, err
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return use{}, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	cpu := time.Duration(spent.Utime.Nano() + spent.Stime.Nano())
	return use{cpu: cpu, files: files, memory: pages * int64(os.Getpagesize())}, err
}

func filesOpen() (int64, error) {
	info, err := os.Stat("/proc/self/fd")
	if err == nil && info.Size() > 0 {
		return info.Size(), nil // since Linux 6.2
	}
	folder, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0, err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	return int64(len(names)), err
}

func processors() int64 {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return int64(runtime.NumCPU())
	}
	return int64(set.Count())
}

const lagEvery = 10 * time.Millisecond

// A lag says how late this process wakes for its timers.
type lag struct {
	mutex sync.Mutex
	all   *latencies
	most  time.Duration // since it was last asked
	stop  chan struct{}
}

func newLag() *lag {
	l := &lag{all: newLatencies(), stop: make(chan struct{})}
	go l.watch()
	return l
}

func (l *lag) watch() {
	for {
		due := time.Now().Add(lagEvery)
		select {
		case <-l.stop:
			return
		case <-time.After(lagEvery):
		}
		late := max(0, time.Since(due))
		l.mutex.Lock()
		l.all.add(late)
		l.most = max(l.most, late)
		l.mutex.Unlock()
	}
}

// forget what was before the trial.
func (l *lag) forget() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.all = newLatencies()
}

func (l *lag) take() time.Duration {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	most := l.most
	l.most = 0
	return most
}

func (l *lag) figures() (p50, p99, most float64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.all.at(50), l.all.at(99), milliseconds(l.all.histogram.Max())
}

// Datagrams is as driver/record/evidence/spoken.py has it: what came for this machine's sockets of UDP.
type Datagrams struct {
	Received int64 `json:"received"`
	Dropped  int64 `json:"dropped"` // the socket had no room for it: this process read too late
}

func (d Datagrams) since(before Datagrams) Datagrams {
	return Datagrams{Received: d.Received - before.Received, Dropped: d.Dropped - before.Dropped}
}

// countersOfUDP has the counters of this process's network.
const countersOfUDP = "/proc/self/net/snmp"

// datagramsIn are the counters in such a file, since the network's beginning.
func datagramsIn(file string) (Datagrams, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Datagrams{}, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] != "Udp:":
		case names == nil:
			names = words
		default:
			return datagramsOf(names, words)
		}
	}
	return Datagrams{}, errors.New("the kernel does not count datagrams")
}

func datagramsOf(names, values []string) (told Datagrams, err error) {
	for name, place := range map[string]*int64{"InDatagrams": &told.Received, "RcvbufErrors": &told.Dropped} {
		at := slices.Index(names, name)
		if at < 0 || at >= len(values) {
			return told, fmt.Errorf("the kernel does not count %s", name)
		}
		if *place, err = strconv.ParseInt(values[at], 10, 64); err != nil {
			return told, err
		}
	}
	return told, nil
}
