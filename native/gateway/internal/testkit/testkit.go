// Package testkit is what the gateway's tests share: certificates and listeners. It is not part of the gateway.
package testkit

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Patience is how long a test waits for what must happen. It is long: a test that fails only because the machine is busy tells nothing.
const Patience = 60 * time.Second

// An Identity is a key and its certificate.
type Identity struct {
	Certificate, Key string // files
	Pin              string // as wire.trust has it
	TLS              tls.Certificate
}

// NewIdentity makes one for names, in files that go with the test.
func NewIdentity(t testing.TB, names ...string) *Identity {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(t, err)
	hash := sha256.Sum256(public)
	folder := t.TempDir()
	id := &Identity{
		Certificate: filepath.Join(folder, "certificate.pem"), Key: filepath.Join(folder, "key.pem"),
		Pin: base64.StdEncoding.EncodeToString(hash[:]),
	}
	must(t, os.WriteFile(id.Certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(id.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	id.TLS, err = tls.LoadX509KeyPair(id.Certificate, id.Key)
	must(t, err)
	return id
}

// Listen gives a listener on a free port of the loopback, closed with the test.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	return listener
}

// Pair gives both ends of a TCP connection, closed with the test.
func Pair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	return pairWith(t, nil)
}

// NarrowPair is a Pair between which the kernel holds next to nothing: who does not read is noticed soon. Buffers must be set before the
// connection is made, or they may have grown already.
func NarrowPair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	return pairWith(t, func(_, _ string, socket syscall.RawConn) error {
		var err error
		control := socket.Control(func(descriptor uintptr) {
			err = errors.Join(
				syscall.SetsockoptInt(int(descriptor), syscall.SOL_SOCKET, syscall.SO_SNDBUF, narrow),
				syscall.SetsockoptInt(int(descriptor), syscall.SOL_SOCKET, syscall.SO_RCVBUF, narrow),
			)
		})
		return errors.Join(control, err)
	})
}

const narrow = 16 << 10

func pairWith(t testing.TB, control func(string, string, syscall.RawConn) error) (client, server net.Conn) {
	t.Helper()
	listener, err := (&net.ListenConfig{Control: control}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			accepted <- conn
		}
		close(accepted)
	}()
	client, err = (&net.Dialer{Control: control}).DialContext(t.Context(), "tcp", listener.Addr().String())
	must(t, err)
	server, ok := <-accepted
	if !ok {
		t.Fatal("nobody accepted")
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// Port of an address.
func Port(address net.Addr) int { return address.(*net.TCPAddr).Port }

// Eventually waits until something holds.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ReadSoon reads so many bytes, and fails the test where they do not come.
func ReadSoon(t testing.TB, from io.Reader, count int) string {
	t.Helper()
	buffer := make([]byte, count)
	done := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(from, buffer)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("instead of %d bytes: %v", count, err)
		}
		return string(buffer)
	case <-time.After(Patience):
		t.Errorf("%d bytes have come and are not handed on", count)
		return ""
	}
}
