package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"
)

// checkKeys looks for keys that the structure does not know, so that a setting that is misspelt is not a setting that is ignored.
func checkKeys(text []byte, into any) error {
	return checkObject(text, reflect.TypeOf(into).Elem(), "")
}

func checkObject(text []byte, kind reflect.Type, path string) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return explain(err)
	}
	known := map[string]reflect.Type{}
	for i := range kind.NumField() {
		known[kind.Field(i).Tag.Get("json")] = kind.Field(i).Type
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	sort.Strings(names) // so that the same file always gives the same message
	for _, name := range names {
		inner, ok := known[name]
		if !ok {
			return unknownKey(path+name, name, known)
		}
		if err := checkInner(object[name], inner, path+name); err != nil {
			return err
		}
	}
	return nil
}

// checkInner looks into an object, and into each of a list of objects. What is something else the decoder finds.
func checkInner(text json.RawMessage, kind reflect.Type, path string) error {
	begin := strings.TrimSpace(string(text))
	switch {
	case kind.Kind() == reflect.Struct && strings.HasPrefix(begin, "{"):
		return checkObject(text, kind, path+".")
	case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct && strings.HasPrefix(begin, "["):
		var elements []json.RawMessage
		if err := json.Unmarshal(text, &elements); err != nil {
			return explain(err)
		}
		for i, element := range elements {
			if err := checkInner(element, kind.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func unknownKey(path, name string, known map[string]reflect.Type) error {
	names := make([]string, 0, len(known))
	for candidate := range known {
		names = append(names, candidate)
	}
	sort.Strings(names)
	best, least := "", 3 // more edits than that and it is another word
	for _, candidate := range names {
		if edits := distance(name, candidate); edits < least && edits < len(candidate) {
			best, least = candidate, edits
		}
	}
	if best != "" {
		return fmt.Errorf("%s: no such key; did you mean %q?", path, best)
	}
	return fmt.Errorf("%s: no such key; known here: %s", path, strings.Join(names, ", "))
}

// distance is how many letters must be added, removed or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
