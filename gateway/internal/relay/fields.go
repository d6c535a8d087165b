package relay

import (
	"strings"

	"lanelab/gateway/internal/exchange"
)

// fieldsForWire are the browser's fields without what is about its own connection. HTTP/2 has next to nothing of that.
func (r *Relay) fieldsForWire(fields []exchange.Field) []exchange.Field {
	kept := make([]exchange.Field, 0, len(fields))
	for _, field := range fields {
		switch field.Name {
		case "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
			continue
		case "priority", "te":
			if r.wire.Protocol.SPDY() {
				continue // SPDY says it in the frame
			}
		}
		kept = append(kept, field)
	}
	if r.wire.Protocol.SPDY() {
		return exchange.JoinCookies(kept)
	}
	return kept
}

func priorityOf(fields []exchange.Field) exchange.Priority {
	for _, field := range fields {
		if field.Name == "priority" {
			return exchange.ParsePriority(field.Value)
		}
	}
	return exchange.DefaultPriority
}

// fieldsForBrowser are the server's fields; on the loopback side, and there only, with what the browser needs to ask us for everything: the page
// is https for it, whatever the wire is.
func (r *Relay) fieldsForBrowser(response *exchange.Response) []exchange.Field {
	fields := response.Fields
	if !r.wire.Secure() {
		fields = r.withSecureLocation(fields)
	}
	for _, field := range fields {
		if field.Name == "content-type" && isPage(field.Value) {
			all := make([]exchange.Field, 0, len(fields)+1)
			return append(append(all, fields...), exchange.Field{Name: "content-security-policy", Value: "upgrade-insecure-requests"})
		}
	}
	return fields
}

func isPage(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// withSecureLocation: a redirect to a http address of the site would lead the browser past the gateway.
func (r *Relay) withSecureLocation(fields []exchange.Field) []exchange.Field {
	for i, field := range fields {
		rest, isHTTP := strings.CutPrefix(field.Value, "http://")
		if field.Name != "location" || !isHTTP {
			continue
		}
		authority, path := rest, ""
		if at := strings.IndexAny(rest, "/?#"); at >= 0 {
			authority, path = rest[:at], rest[at:]
		}
		if host := hostOf(authority); r.names.Known(host) {
			changed := append([]exchange.Field(nil), fields...)
			changed[i].Value = "https://" + host + path
			return changed
		}
	}
	return fields
}
