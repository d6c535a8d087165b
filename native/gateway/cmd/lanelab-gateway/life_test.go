package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/testkit"
)

var binary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "wire-gateway-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "lanelab-gateway")
	said, err := exec.Command("go", "build", "-trimpath", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", &buildError{string(said)}
	}
	return path, nil
})

type buildError struct{ said string }

func (e *buildError) Error() string { return e.said }

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(status)
}

func program(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), path, arguments...)
}

// running starts the program, and waits until it says that it is ready.
func running(t *testing.T, configuration string) (process *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	process = program(t, configuration)
	said = &bytes.Buffer{}
	process.Stderr = said
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { process.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		process.Wait()
		t.Fatalf("%q, %v, %s", line, err, said)
	}
	return process, said
}

// listenOn changes the addresses in a configuration: a program cannot tell which free port it took.
func listenOn(t *testing.T, configuration string, addresses ...string) {
	t.Helper()
	list, err := json.Marshal(addresses)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(configuration)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"listen":"127.0.0.1:0"`), append([]byte(`"listen":`), list...), 1)
	if err := os.WriteFile(configuration, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener := testkit.Listen(t)
	defer listener.Close()
	return listener.Addr().String()
}

func TestTheProgramSaysItsVersion(t *testing.T) {
	said, err := program(t, "--version").Output()
	if err != nil || string(said) != "lanelab-gateway "+version+"\n" {
		t.Errorf("%q, %v", said, err)
	}
}

func TestTheProgramRefusesWhatItCannotRead(t *testing.T) {
	folder := t.TempDir()
	bad := filepath.Join(folder, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"version": 1, "lissten": "x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for says, arguments := range map[string][]string{
		"usage": {}, "no such file": {filepath.Join(folder, "none.json")}, `did you mean "listen"`: {bad},
	} {
		process := program(t, arguments...)
		var said bytes.Buffer
		process.Stderr = &said
		process.Run()
		if process.ProcessState.ExitCode() != 2 || !strings.Contains(said.String(), says) || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("%v: status %d, %q", arguments, process.ProcessState.ExitCode(), &said)
		}
	}
}

func TestTheProgramEndsWhenItIsAskedTo(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		underWay := make(chan bool, 1)
		o := serveHTTP(t, "h2", 0, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/endless" {
				w.Write([]byte("so far"))
				http.NewResponseController(w).Flush()
				underWay <- true
				<-r.Context().Done()
			}
		})
		front := testkit.NewIdentity(t, names...)
		path, log := writeConfig(t, front, o.pin, o.port, settings{"protocol": "h2"}, nil)
		address := freeAddress(t)
		listenOn(t, path, address)
		process, said := running(t, path)
		browser := browserOf(t, address)
		for _, what := range []string{"/", "/endless"} {
			response, err := browser.Get(url(names[0], "%s", what))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
		}
		<-underWay
		process.Process.Signal(signal)
		if err := process.Wait(); err != nil || said.Len() > 0 {
			t.Errorf("%v: %v, %s", signal, err, said)
		}
		requests := readLog(t, log, "request")
		if len(requests) != 2 || requests[0]["error"] != nil || requests[1]["error"] == nil || requests[1]["sent_ms"] == nil {
			t.Errorf("%v", requests)
		}
		if c := readLog(t, log, "connection"); len(c) != 1 || c[0]["ended_by"] != "gateway" || c[0].number("requests") != 2 {
			t.Errorf("%v", c)
		}
	}
}

func TestAFullDiskIsAnErrorAndNoCrash(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	front := testkit.NewIdentity(t, names...)
	path, log := writeConfig(t, front, front.Pin, 1, nil, nil)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(log), []byte("/dev/full"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	process, said := running(t, path)
	process.Wait() // it ends by itself: what it would measure would be lost
	if process.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "no space left") || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("status %d, %q", process.ProcessState.ExitCode(), said)
	}
}

func TestTheProgramSaysWhyItCannotStart(t *testing.T) {
	taken := testkit.Listen(t)
	for says, change := range map[string]func(path, certificate string){
		"address already in use": func(path, _ string) { listenOn(t, path, taken.Addr().String()) },
		"certificate":            func(_, certificate string) { os.Remove(certificate) },
	} {
		front := testkit.NewIdentity(t, names...)
		path, _ := writeConfig(t, front, front.Pin, 1, nil, nil)
		change(path, front.Certificate)
		process := program(t, path)
		var said bytes.Buffer
		process.Stderr = &said
		process.Run()
		if process.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), says) {
			t.Errorf("%s: status %d, %q", says, process.ProcessState.ExitCode(), &said)
		}
	}
}

func TestTheFirstLineOfTheLogSaysWhatTheWireIs(t *testing.T) {
	before := time.Now().Add(-time.Second).UnixMicro()
	w := begin(t, testkit.NewIdentity(t, "x").Pin, 1234, settings{"pipelining": 3}, nil)
	first := w.events("gateway")[0]
	wire := first["wire"].(map[string]any)
	if first["version"] != version || first.number("started_unix_us") < float64(before) || wire["pipelining"] != 3.0 || wire["port"] != 1234.0 {
		t.Errorf("%v", first)
	}
}

func TestAConfigurationThatIsWrittenIsOneThatIsRead(t *testing.T) {
	front := testkit.NewIdentity(t, names...)
	path, _ := writeConfig(t, front, front.Pin, 80, nil, nil)
	if _, err := config.Read(path); err != nil {
		t.Error(err)
	}
}

// A connection to the gateway that does nothing, or the wrong thing, must not be in anybody's way.
func TestBrowsersThatDoNotSpeakTLS(t *testing.T) {
	o := serveHTTP(t, "http/1.1", 0, site)
	w := begin(t, o.pin, o.port, nil, nil)
	for _, text := range []string{"", "GET / HTTP/1.1\r\n\r\n", strings.Repeat("\x16\x03\x01\xff\xff", 1000), strings.Repeat("x", 100_000)} {
		conn, err := net.Dial("tcp", w.gateway.front.Address().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, text)
	}
	if response, _ := w.get(url(names[0], "/10")); response.StatusCode != 200 {
		t.Errorf("%v", response)
	}
}
