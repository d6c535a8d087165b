package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// settings are what a test changes in a plan.
type settings map[string]any

// plan writes a plan; what is changed of it and of its wire is in the two last.
func plan(t *testing.T, s *site, paths []string, changed, wire settings) string {
	t.Helper()
	folder := t.TempDir()
	whole := settings{"protocol": "http/1.1", "port": s.port, "tls": "off"}
	for key, value := range wire {
		whole[key] = value
	}
	if whole["tls"] != "off" {
		whole["trust"] = []string{s.pin}
	}
	objects := make([]string, 0, len(paths))
	for _, path := range paths {
		objects = append(objects, host+path)
	}
	said := settings{
		"version": 1, "log": filepath.Join(folder, "wire.jsonl"), "keylog": filepath.Join(folder, "keys.log"), "wire": whole,
		"dns": settings{"mode": "instant", "hosts": settings{host: "127.0.0.1"}}, "objects": objects, "timeout_ms": 60_000,
	}
	for key, value := range changed {
		said[key] = value
	}
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "plan.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func fetch(t *testing.T, path string) *Report {
	t.Helper()
	var out, complaints bytes.Buffer
	if status := run(t.Context(), []string{path}, &out, &complaints); status != ended {
		t.Fatalf("status %d: %s", status, &complaints)
	}
	report := new(Report)
	var plain map[string]any
	if err := json.Unmarshal(out.Bytes(), &plain); err != nil {
		t.Fatal(err)
	}
	report.Version, report.InTime = plain["version"].(string), plain["in_time"].(bool)
	for _, each := range plain["objects"].([]any) {
		report.Objects = append(report.Objects, objectOf(each.(map[string]any)))
	}
	return report
}

func objectOf(plain map[string]any) Object {
	object := Object{Request: int(plain["request"].(float64)), URL: plain["url"].(string), Measured: plain["measured"].(bool)}
	object.BodyBytes = int64(plain["body_bytes"].(float64))
	if status, is := plain["status"].(float64); is {
		number := int(status)
		object.Status = &number
	}
	if text, is := plain["sha256"].(string); is {
		object.SHA256 = &text
	}
	if text, is := plain["error"].(string); is {
		object.Error = &text
	}
	return object
}

func requireWhole(t *testing.T, object Object, path string) {
	t.Helper()
	hash := sha256.Sum256([]byte(body(path)))
	if object.URL != host+path || object.Status == nil || *object.Status != 200 || object.Error != nil {
		t.Errorf("%s: %+v", path, object)
	}
	if object.SHA256 == nil || *object.SHA256 != hex.EncodeToString(hash[:]) || object.BodyBytes != int64(len(body(path))) {
		t.Errorf("%s is not whole: %+v", path, object)
	}
}

// events are the lines of a kind in the log beside a plan.
func events(t *testing.T, path, kind string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "wire.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var found []map[string]any
	for line := range strings.Lines(string(text)) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if one["event"] == kind {
			found = append(found, one)
		}
	}
	return found
}
