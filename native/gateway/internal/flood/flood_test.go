package flood

import (
	"errors"
	"testing"
	"time"
)

// counter is one whose clock the test moves.
func counter() (c *Counter, pass func(time.Duration)) {
	now := time.Unix(1000, 0)
	return &Counter{Now: func() time.Time { return now }}, func(d time.Duration) { now = now.Add(d) }
}

// granted is how many of a kind come before the error.
func granted(t *testing.T, c *Counter, kind Kind) int {
	t.Helper()
	for count := range 1_000_000 {
		err := c.Count(kind)
		var flooded *Error
		if errors.As(err, &flooded) {
			if flooded.Most != count || flooded.What != limits[kind].name {
				t.Errorf("after %d of %s: %v", count, limits[kind].name, err)
			}
			return count
		}
	}
	t.Fatalf("no end of %s", limits[kind].name)
	return 0
}

func TestEachKindHasItsLimit(t *testing.T) {
	c, _ := counter()
	for kind := range kinds {
		if got := granted(t, c, kind); got != limits[kind].most || got == 0 {
			t.Errorf("%s: %d", limits[kind].name, got)
		}
	}
}

func TestAPeriodBeginsAnew(t *testing.T) {
	c, pass := counter()
	for range 100 {
		for range limits[Ping].most {
			if err := c.Count(Ping); err != nil {
				t.Fatal(err)
			}
		}
		pass(Period)
	}
	granted(t, c, Ping)
	pass(Period - 1)
	if c.Count(Ping) == nil {
		t.Error("the period was not over")
	}
}

// A peer may say more where we do more; but not later, for what we did before.
func TestOurStepsGrantMore(t *testing.T) {
	c, pass := counter()
	c.Count(WindowUpdate)
	for range 50_000 { // DATA frames of an upload, for each of which both windows are given back
		c.Step()
		if err := errors.Join(c.Count(WindowUpdate), c.Count(WindowUpdate)); err != nil {
			t.Fatal(err)
		}
	}
	pass(Period)
	if got := granted(t, c, WindowUpdate); got != limits[WindowUpdate].most {
		t.Error(got)
	}
}
