package main

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"net/textproto"
)

// withHints tells of the first interim answer.
func withHints(ctx context.Context, hints chan<- string) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(status int, fields textproto.MIMEHeader) error {
		select {
		case hints <- fmt.Sprint(status, " ", fields.Get("Link")):
		default:
		}
		return nil
	}})
}
