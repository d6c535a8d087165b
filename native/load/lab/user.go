package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"go.k6.io/k6/lib"
	"go.k6.io/k6/lib/netext/httpext"
)

// k6's codes of errors of ours; its own are below 1700.
const (
	codeProtocol = 1701
	codeBody     = 1702
)

// A user is one of k6's virtual users: its connections, and the page it is at. It implements http.RoundTripper.
type user struct {
	settings *Settings
	recorder *recorder
	inner    transport
	random   *rand.Rand

	mutex     sync.Mutex
	ctx       context.Context // of the iteration; nil in setup and teardown, which are not recorded
	page      *span
	arrival   *arrival // open model: the iteration's
	announced bool     // the arrival belongs to a page already
	cut       bool     // a request of this iteration was cut off
}

type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

func newUser(s *Settings, r *recorder, state *lib.State) *user {
	c := newConnector(s, r, state)
	u := &user{settings: s, recorder: r, random: rand.New(rand.NewPCG(s.Seed, state.VUID))}
	u.inner = newMultiplexed(c)
	if s.Protocol == http1 {
		u.inner = newHTTP1(c)
	}
	return u
}

// newHTTP1 is k6's own transport but for the number of connections and their end.
func newHTTP1(c *connector) transport {
	made := &http.Transport{
		DialContext: c.dial, TLSClientConfig: c.tls, DisableCompression: true, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		MaxConnsPerHost: c.settings.Connections, MaxIdleConnsPerHost: c.settings.Connections,
	}
	if c.settings.handshakesLate() {
		made.DialTLSContext = c.securedLater
	}
	return made
}

// begins an iteration; due is nil with users.
func (u *user) begins(ctx context.Context, due *arrival) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	switch {
	case u.page == nil:
	case u.cut:
		u.recorder.leaves(u.page)
	default: // the script gave up in the midst of it
		u.recorder.pageFails(u.page, false)
		u.recorder.pageEnds(u.page)
	}
	first := u.ctx == nil
	u.ctx, u.page, u.arrival, u.announced, u.cut = ctx, nil, due, false, false
	if u.settings.Fresh && !first {
		u.inner.CloseIdleConnections()
	}
}

// beginPage: what follows is a page until endPage.
func (u *user) beginPage() error {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	switch {
	case u.ctx == nil:
		return errors.New("pages are loaded in iterations, not in setup and teardown")
	case u.page != nil:
		return errors.New("a page is under way already")
	}
	var due *arrival
	if !u.announced {
		due, u.announced = u.arrival, true
	}
	u.page = u.recorder.begin(u.recorder.pages, due)
	return nil
}

func (u *user) endPage() error {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.page == nil {
		return errors.New("no page is under way")
	}
	if u.ctx.Err() == nil {
		u.recorder.pageEnds(u.page)
	} else {
		u.recorder.leaves(u.page)
	}
	u.page = nil
	return nil
}

// pageFails ends the page that is under way as a failed one.
func (u *user) pageFails() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	switch {
	case u.page == nil:
		return
	case u.ctx.Err() == nil:
		u.recorder.pageFails(u.page, false)
		u.recorder.pageEnds(u.page)
	default:
		u.recorder.leaves(u.page)
	}
	u.page = nil
}

func (u *user) now() (ctx context.Context, page *span) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.ctx, u.page
}

// cutOff notes that the trial, or the user's part in it, ended in the midst of a request.
func (u *user) cutOff(s *span) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.cut = true
	u.recorder.cutOff(s)
}

// RoundTrip implements http.RoundTripper: it records the request.
func (u *user) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, page := u.now()
	request = u.settings.inScheme(request)
	if ctx == nil {
		return u.inner.RoundTrip(request)
	}
	x := &exchanged{user: u, ctx: ctx, page: page, span: u.recorder.begin(u.recorder.requests, nil), cancel: func() {}}
	if deadline, there := request.Context().Deadline(); !there || time.Until(deadline) > u.settings.timeout() {
		var limited context.Context
		limited, x.cancel = context.WithTimeout(request.Context(), u.settings.timeout())
		request = request.WithContext(limited)
	}
	x.request = request
	x.watch()
	response, err := u.inner.RoundTrip(request)
	if err != nil {
		x.failed(err)
		if errors.Is(err, errProtocol) {
			err = httpext.NewK6Error(codeProtocol, err.Error(), err)
		}
		return nil, err
	}
	if response.TLS != nil || u.settings.Protocol == http1 && !u.settings.handshakesLate() {
		u.recorder.spoke(u.settings.Protocol, response.TLS)
	}
	x.status, x.left = response.StatusCode, -1
	if size, known := u.settings.size(request.URL); known && response.StatusCode == http.StatusOK && request.Method == http.MethodGet {
		x.left = size
	}
	x.empty = response.ContentLength == 0 || request.Method == http.MethodHead
	x.body, response.Body = response.Body, x
	return response, nil
}

// exchanged is a request and the body of its answer.
type exchanged struct {
	user    *user
	ctx     context.Context // of the iteration
	request *http.Request
	page    *span
	span    *span
	cancel  func()
	body    io.ReadCloser
	status  int
	empty   bool // the answer has no body
	count   int64
	left    int64 // what the body should have; -1: not known
	once    sync.Once

	mutex                  sync.Mutex
	tlsBegan, wrote, first time.Time
}

// watch adds to what k6 watches; where it does not watch, nobody needs the parts.
func (x *exchanged) watch() {
	trace := httptrace.ContextClientTrace(x.request.Context())
	if trace == nil {
		return
	}
	k6s := *trace // the pointer is this request's own
	trace.TLSHandshakeStart = func() { x.mark(&x.tlsBegan); k6s.TLSHandshakeStart() }
	trace.TLSHandshakeDone = func(state tls.ConnectionState, err error) {
		x.secured(err)
		k6s.TLSHandshakeDone(state, err)
	}
	trace.WroteRequest = func(info httptrace.WroteRequestInfo) { x.mark(&x.wrote); k6s.WroteRequest(info) }
	trace.GotFirstResponseByte = func() { x.mark(&x.first); k6s.GotFirstResponseByte() }
}

func (x *exchanged) mark(when *time.Time) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	*when = time.Now()
}

func (x *exchanged) secured(err error) {
	x.mutex.Lock()
	began := x.tlsBegan
	x.mutex.Unlock()
	if err == nil {
		x.user.recorder.part(partTLS, time.Since(began))
	}
}

// failed notes why, once. What is cut off at the trial's end is unfinished.
func (x *exchanged) failed(err error) {
	x.once.Do(func() {
		defer x.cancel()
		if x.ctx.Err() != nil {
			x.user.cutOff(x.span)
			return
		}
		kind := kindOf(err)
		if x.request.Context().Err() != nil {
			kind = kindTimeout // whatever the transport made of it
		}
		var wrong *wrongBody
		if errors.As(err, &wrong) {
			kind = kindBody
		}
		x.user.recorder.requestFails(x.span, x.page, kind)
	})
}

func (x *exchanged) whole() {
	x.once.Do(func() {
		defer x.cancel()
		x.mutex.Lock()
		wrote, first := x.wrote, x.first
		x.mutex.Unlock()
		x.user.recorder.requestEnds(x.span, x.page, x.status, x.count, wrote, first)
	})
}

// Read implements io.Reader: to the end, where the size is compared.
func (x *exchanged) Read(buffer []byte) (int, error) {
	count, err := x.body.Read(buffer)
	x.count += int64(count)
	if err == nil {
		return count, nil
	}
	if err != io.EOF { // itself: a connection that ends amid a body may say so around an io.EOF
		x.failed(err)
		return count, err
	}
	if x.left >= 0 && x.left != x.count {
		wrong := &wrongBody{x.count, x.left}
		x.failed(wrong)
		return count, httpext.NewK6Error(codeBody, wrong.Error(), wrong)
	}
	x.whole()
	return count, io.EOF
}

// Close implements io.Closer. Closed before its end: the script follows a redirect, or gave up.
func (x *exchanged) Close() error {
	if x.status/100 == 3 || x.empty {
		x.whole()
	} else {
		x.failed(io.ErrUnexpectedEOF)
	}
	return x.body.Close()
}
