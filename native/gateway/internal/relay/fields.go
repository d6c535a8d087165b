package relay

import (
	"strings"

	"lanelab/gateway/internal/config"
	"lanelab/gateway/internal/exchange"
	"lanelab/gateway/internal/pool"
)

// fieldsForWire are the browser's fields without what is about its own connection. HTTP/2 has next to nothing of that.
func (r *Relay) fieldsForWire(wire *config.Wire, fields []exchange.Field) []exchange.Field {
	kept := make([]exchange.Field, 0, len(fields))
	for _, field := range fields {
		switch field.Name {
		case "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
			continue
		case "priority", "te":
			if wire.Protocol.SPDY() || (field.Name == "priority" && !wire.TellsPriorities()) {
				continue // SPDY says it in the frame
			}
		case "origin", "referer":
			if !wire.Secure() && wire.Reverse == nil {
				field.Value = r.moved(field.Value, "https://", "http://", r.onWire)
			}
		}
		kept = append(kept, field)
	}
	if wire.Protocol.SPDY() {
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
// is https for it, whatever the wire is. A redirect to a http address of the site would lead it past the gateway, and a http origin is not its own.
func (r *Relay) fieldsForBrowser(c *carriage, response *exchange.Response) []exchange.Field {
	if r.reversed() {
		return response.Fields
	}
	all, page := make([]exchange.Field, 0, len(response.Fields)+1), false
	for _, field := range withoutPushed(c.to, c.host, response.Fields) {
		switch field.Name {
		case "location", "access-control-allow-origin":
			if !c.to.Wire().Secure() {
				field.Value = r.moved(field.Value, "http://", "https://", func(host string) string { return host })
			}
		case "content-type":
			page = page || isPage(field.Value)
		}
		all = append(all, field)
	}
	if page {
		all = append(all, exchange.Field{Name: "content-security-policy", Value: "upgrade-insecure-requests"})
	}
	return all
}

// withoutPushed leaves out the hints by which a server was told what to push: natively, too, they were for the server. A browser would fetch at
// once what they name, and the push would not be seen for it.
func withoutPushed(by *pool.Pool, host string, fields []exchange.Field) []exchange.Field {
	if !by.Wire().Push {
		return fields
	}
	kept := make([]exchange.Field, 0, len(fields))
	for _, field := range fields {
		if field.Name == "link" {
			var links []string
			for link := range strings.SplitSeq(field.Value, ",") {
				if !isPushed(by, host, link) {
					links = append(links, strings.TrimSpace(link))
				}
			}
			if len(links) == 0 {
				continue
			}
			field.Value = strings.Join(links, ", ")
		}
		kept = append(kept, field)
	}
	return kept
}

func isPushed(by *pool.Pool, host, link string) bool {
	target, rest, whole := strings.Cut(strings.TrimSpace(link), ">")
	path, begins := strings.CutPrefix(target, "</")
	return whole && begins && strings.Contains(rest, "preload") && by.Promised(host, "/"+path)
}

// onWire is how a host of the site is named on its wire.
func (r *Relay) onWire(host string) string { return r.pools.Of(host).Wire().Authority(host) }

func isPage(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	kind = strings.TrimSpace(kind)
	return kind == "text/html" || kind == "application/xhtml+xml"
}

// moved is an address of the site in the other scheme; what is none stays.
func (r *Relay) moved(address, from, to string, authority func(host string) string) string {
	rest, begins := strings.CutPrefix(address, from)
	end := strings.IndexAny(rest+"/", "/?#")
	// A name before an @ is who asks, not whom.
	if host := hostOf(rest[:end]); begins && r.names.Known(host) && !strings.Contains(rest[:end], "@") {
		return to + authority(host) + rest[end:]
	}
	return address
}
