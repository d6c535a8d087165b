package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"testing"

	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/spdy"
	"lanelab/gateway/internal/spdyconn"
	"lanelab/gateway/internal/testkit"
)

// An origin is a server on the wire.
type origin struct {
	port int
	pin  string
	mu   sync.Mutex
	open map[net.Conn]bool
	all  int
}

func (o *origin) connections() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all
}

// serveHTTP is an origin of net/http, in the protocol asked for.
func serveHTTP(t testing.TB, protocol string, tlsVersion uint16, handler http.HandlerFunc) *origin {
	t.Helper()
	o := &origin{open: map[net.Conn]bool{}}
	listener := testkit.Listen(t)
	o.port = testkit.Port(listener.Addr())
	server := &http.Server{Handler: handler, Protocols: new(http.Protocols), ConnState: func(c net.Conn, state http.ConnState) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if state == http.StateNew {
			o.all++
		}
	}}
	server.Protocols.SetHTTP1(protocol == "http/1.1")
	server.Protocols.SetHTTP2(protocol == "h2" && tlsVersion != 0)
	server.Protocols.SetUnencryptedHTTP2(protocol == "h2" && tlsVersion == 0)
	server.ErrorLog = nil
	if tlsVersion != 0 {
		identity := testkit.NewIdentity(t, names...)
		o.pin = identity.Pin
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{identity.TLS}, MinVersion: tls.VersionTLS12}
		go server.ServeTLS(listener, "", "")
	} else {
		o.pin = testkit.NewIdentity(t, names...).Pin
		go server.Serve(listener)
	}
	t.Cleanup(func() { server.Close() })
	return o
}

// serveSPDY is an origin that answers as the handler of net/http would, as far as these tests go.
func serveSPDY(t testing.TB, version spdy.Version, handler http.HandlerFunc) *origin {
	t.Helper()
	o := &origin{pin: testkit.NewIdentity(t, names...).Pin}
	listener := testkit.Listen(t)
	o.port = testkit.Port(listener.Addr())
	server := &spdyconn.Server{
		Version: version, Handler: func(stream *spdyconn.ServerStream) { answerSPDY(t, stream, handler) },
		Accepted: func(*spdyconn.ServerConn) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.all++
		},
	}
	go server.Listen(listener)
	return o
}

func answerSPDY(t testing.TB, stream *spdyconn.ServerStream, handler http.HandlerFunc) {
	request, err := http.NewRequest(stream.Head.Method, "http://"+stream.Head.Host+stream.Head.Path, stream.Body)
	if err != nil {
		t.Error(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stream.Over():
		case <-ctx.Done():
		}
		cancel()
	}()
	for _, field := range stream.Head.Fields {
		request.Header.Add(field.Name, field.Value)
	}
	writer := &spdyWriter{stream: stream, header: http.Header{}}
	handler(writer, request.WithContext(ctx))
	writer.WriteHeader(200)
}

type spdyWriter struct {
	stream *spdyconn.ServerStream
	header http.Header
	headed bool
}

func (w *spdyWriter) Header() http.Header { return w.header }
func (w *spdyWriter) FlushError() error   { return nil }

func (w *spdyWriter) WriteHeader(status int) {
	if w.headed || status < 200 {
		return
	}
	w.headed = true
	var fields []exchange.Field
	for name := range w.header {
		fields = append(fields, exchange.Field{Name: name, Value: w.header.Get(name)})
	}
	w.stream.Reply(status, false, fields...)
}

func (w *spdyWriter) Write(p []byte) (int, error) {
	w.WriteHeader(200)
	return w.stream.Write(p)
}
