package spdy

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// addKept adds the inputs that are kept of a fuzzer, all of testdata/NAME.txt: a line for each, as tools/corpus.py packs them.
func addKept(f *testing.F) {
	f.Helper()
	kept, err := os.ReadFile("testdata/" + f.Name() + ".txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(kept)) {
		_, written, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		var arguments []any
		for _, each := range strings.Split(written, "\t") {
			argument, err := literal(each)
			if err != nil {
				f.Fatalf("%s in %q", err, line)
			}
			arguments = append(arguments, argument)
		}
		f.Add(arguments...)
	}
}

// literal is an argument as `go test` writes it into files of inputs.
func literal(written string) (any, error) {
	kind, value, _ := strings.Cut(strings.TrimSuffix(written, ")"), "(")
	switch kind {
	case "byte", "uint8":
		character, _, rest, err := strconv.UnquoteChar(strings.TrimPrefix(value, "'"), '\'')
		if err == nil && rest != "'" {
			err = fmt.Errorf("no character: %s", value)
		}
		return byte(character), err
	case "[]byte":
		text, err := strconv.Unquote(value)
		return []byte(text), err
	case "bool":
		return strconv.ParseBool(value)
	case "int":
		return strconv.Atoi(value)
	}
	return nil, fmt.Errorf("no argument of a fuzzer here: %s", written)
}
