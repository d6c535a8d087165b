package exchange

import "strings"

// JoinCookies makes one field of a browser's crumbs, for protocols in which the cookie is one field (RFC 9113, section 8.2.3).
func JoinCookies(fields []Field) []Field {
	var crumbs []string
	for _, field := range fields {
		if field.Name == "cookie" {
			crumbs = append(crumbs, field.Value)
		}
	}
	if len(crumbs) < 2 {
		return fields
	}
	joined, done := make([]Field, 0, len(fields)), false
	for _, field := range fields {
		if field.Name != "cookie" {
			joined = append(joined, field)
		} else if !done {
			joined, done = append(joined, Field{Name: "cookie", Value: strings.Join(crumbs, "; ")}), true
		}
	}
	return joined
}
