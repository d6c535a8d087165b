package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"go.k6.io/k6/errext"
	"go.k6.io/k6/errext/exitcodes"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/metrics"
	"go.k6.io/k6/output"
)

func init() { output.RegisterExtension("lab", newOutput) }

// version of k6, as go.mod has it.
const version = "k6 1.8.1"

// A file line is one of these.
type (
	beginLine struct {
		Kind      string  `json:"kind"`
		Generator string  `json:"generator"`
		Monotonic float64 `json:"monotonic_s"` // CLOCK_MONOTONIC when the load began
	}
	secondLine struct {
		Kind   string             `json:"kind"`
		MS     float64            `json:"ms"` // since the load began
		Values map[string]float64 `json:"values"`
		Script map[string]float64 `json:"script"` // the same of what the script measures, by its own names
	}
	reportLine struct {
		Kind      string     `json:"kind"`
		Report    Report     `json:"report"`
		Datagrams *Datagrams `json:"datagrams"` // after the warm-up; nil: over TCP there are none
	}
)

// labOutput writes what the recorder has: a line at the beginning, one each second, one at the end.
type labOutput struct {
	recorder *recorder
	script   *scriptMetrics
	settings *Settings
	logger   logrus.FieldLogger
	name     string
	file     *os.File
	ports    int64
	lag      *lag
	counters string // file with what the kernel counts of datagrams
	quit     chan struct{}
	done     sync.WaitGroup

	// of the goroutine that writes
	failed       error
	begun        bool
	next         time.Time // of the next second's line
	before       use
	beforeAt     time.Time
	lastAt       time.Time // of the last second's line
	atWarmUp     use       // when the warm-up ended
	atWarmUpTime time.Time
	arrived      Datagrams // when the warm-up ended; before, when this process began
	uncounted    error     // why it is not known when the warm-up ended
	warm         bool
	filesMost    int64
	memoryMost   int64
}

func newOutput(params output.Params) (output.Output, error) {
	s, err := settings()
	if err != nil {
		return nil, err
	}
	if params.ConfigArgument == "" {
		return nil, errors.New("--out lab=FILE says where the figures go")
	}
	return &labOutput{
		recorder: theRecorder(), script: newScriptMetrics(), settings: s, logger: params.Logger, name: params.ConfigArgument,
		counters: countersOfUDP, quit: make(chan struct{}),
	}, nil
}

func (o *labOutput) Description() string { return "lab (" + o.name + ")" }

func (o *labOutput) Start() (err error) {
	if err = raiseFiles(); err != nil {
		return fmt.Errorf("the limit of open files: %w", err)
	}
	if o.ports, err = portsAllowed(); err != nil {
		return fmt.Errorf("the range of ports: %w", err)
	}
	if o.before, err = useNow(); err != nil {
		return fmt.Errorf("what this process uses: %w", err)
	}
	if o.arrived, err = datagramsIn(o.counters); err != nil && o.settings.Protocol == h3 {
		return fmt.Errorf("the datagrams that come: %w", err)
	}
	if o.file, err = os.Create(o.name); err != nil {
		return err
	}
	o.beforeAt, o.lag = time.Now(), newLag()
	o.done.Go(o.write)
	return nil
}

// AddMetricSamples takes arrivals that were dropped, and what the script measures: all else is the recorder's. These come one by
// one; k6's own come in other containers.
func (o *labOutput) AddMetricSamples(containers []metrics.SampleContainer) {
	for _, container := range containers {
		sample, ok := container.(metrics.Sample)
		switch {
		case !ok:
		case sample.Metric.Name == metrics.DroppedIterationsName:
			scenario, _ := sample.Tags.Get("scenario")
			o.recorder.drop(scenario, sample.Time, int64(sample.Value))
		default:
			if within, counted := o.recorder.placed(sample.Time); within {
				o.script.add(sample, counted)
			}
		}
	}
}

func (o *labOutput) Stop() error { return o.StopWithTestError(nil) }

// StopWithTestError writes the report.
func (o *labOutput) StopWithTestError(why error) error {
	close(o.quit)
	o.done.Wait()
	close(o.lag.stop)
	now := time.Now()
	end := now
	if zero := o.recorder.zeroTime(); !zero.IsZero() {
		o.beginLines()
		if planned := zero.Add(o.settings.duration()); planned.Before(end) {
			end = planned
		}
	}
	report := o.recorder.report(end)
	report.Generator = version
	report.Script, report.ScriptLeftOut = o.script.values(seconds(report.Seconds))
	if coded := errext.HasExitCode(nil); errors.As(why, &coded) && coded.ExitCode() == exitcodes.ThresholdsHaveFailed {
		report.Crossed = why.Error() // the load is whole
	} else if why != nil {
		report.Stopped = why.Error()
	}
	if err := o.use(&report.Use, now); err != nil {
		return err
	}
	datagrams, err := o.datagrams()
	if err != nil {
		return err
	}
	o.line(reportLine{"report", report, datagrams})
	return errors.Join(o.failed, o.file.Close())
}

func (o *labOutput) use(told *GeneratorUse, now time.Time) error {
	current, err := useNow()
	if err != nil {
		return err
	}
	from, since := o.atWarmUp, o.atWarmUpTime
	if !o.warm {
		from, since = o.before, o.beforeAt
	}
	o.most(current)
	told.CPU, told.Seconds = (current.cpu - from.cpu).Seconds(), now.Sub(since).Seconds()
	told.Processors = processors()
	told.Lag50, told.Lag99, told.LagMax = o.lag.figures()
	told.FilesMost, told.FilesAllowed, told.PortsAllowed = o.filesMost, filesAllowed(), o.ports
	told.MemoryMost = o.memoryMost
	return nil
}

// datagrams are those after the warm-up, or of all the time where it did not end. Where its end was not counted nobody knows them.
func (o *labOutput) datagrams() (*Datagrams, error) {
	if o.settings.Protocol != h3 {
		return nil, nil
	}
	now, err := datagramsIn(o.counters)
	if err = errors.Join(o.uncounted, err); err != nil {
		return nil, fmt.Errorf("the datagrams that came: %w", err)
	}
	told := now.since(o.arrived)
	return &told, nil
}

func (o *labOutput) most(current use) {
	o.filesMost, o.memoryMost = max(o.filesMost, current.files), max(o.memoryMost, current.memory)
}

func (o *labOutput) line(content any) {
	if o.failed != nil {
		return
	}
	text, err := json.Marshal(content)
	if err == nil {
		_, err = o.file.Write(append(text, '\n'))
	}
	if err != nil {
		o.failed = fmt.Errorf("%s cannot be written: %w", o.name, err)
		o.logger.WithError(err).Error("lanelab's figures cannot be written")
	}
}

// write is the goroutine of the seconds.
func (o *labOutput) write() {
	for {
		wait := 20 * time.Millisecond // until the load begins
		if o.begun {
			wait = time.Until(o.next)
		}
		select {
		case <-o.quit:
			return
		case <-time.After(wait):
		}
		if zero := o.recorder.zeroTime(); !o.begun && !zero.IsZero() {
			o.beginLines()
		} else if o.begun {
			o.second(zero)
		}
	}
}

func (o *labOutput) beginLines() {
	if o.begun {
		return
	}
	o.begun = true
	zero := o.recorder.zeroTime()
	o.next, o.lastAt = zero.Add(time.Second), zero
	o.line(beginLine{"begin", version, monotonic() - time.Since(zero).Seconds()})
	if o.settings.WarmUpS == 0 {
		o.warmedUp()
	}
	if current, err := useNow(); err == nil {
		o.before, o.beforeAt = current, time.Now()
	}
	o.lag.take()
}

func (o *labOutput) warmedUp() {
	o.arrived, o.uncounted = datagramsIn(o.counters)
	if current, err := useNow(); err == nil {
		o.atWarmUp, o.atWarmUpTime, o.warm = current, time.Now(), true
	}
	o.lag.forget()
}

func (o *labOutput) second(zero time.Time) {
	now := time.Now()
	values, took := o.recorder.second(now), now.Sub(o.lastAt)
	for _, name := range rates { // a line that comes late is of more than a second
		if count, there := values[name]; there {
			values[name] = count / took.Seconds()
		}
	}
	if users, known := activeUsers(); known && o.next.Sub(zero) < o.settings.duration() { // at the end they have gone
		values["users"] = float64(users)
	}
	if current, err := useNow(); err == nil {
		o.most(current)
		values["generator_cpu"] = (current.cpu - o.before.cpu).Seconds() / now.Sub(o.beforeAt).Seconds()
		values["generator_files"], values["generator_memory_bytes"] = float64(current.files), float64(current.memory)
		o.before, o.beforeAt = current, now
	}
	values["generator_lag_ms"] = inMS(o.lag.take())
	o.line(secondLine{"second", inMS(o.next.Sub(zero)), values, o.script.second(took)})
	o.lastAt = now
	for o.next.Sub(now) < shortestLine { // a second in which it did not wake has no line
		o.next = o.next.Add(time.Second)
	}
	if !o.warm && now.Sub(zero) >= o.settings.warmUp() {
		o.warmedUp()
	}
}

// shortestLine is the time that a line is of at least. What came in while the process was not woken is counted in the moment after: over a
// few milliseconds it would be a rate of many times what there was, and weigh as much as that of a whole second.
const shortestLine = time.Second / 2

// rates are the numbers of a second that are counts, of what happened since the line before.
var rates = []string{"requests_per_s", "errors_per_s", "bytes_per_s", "connections_opened_per_s", "pages_per_s", "page_errors_per_s"}

func (r *recorder) zeroTime() time.Time {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.zero
}

// second gives the numbers of the second that is over, by their names in driver/record/load_series.py.
func (r *recorder) second(now time.Time) map[string]float64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.settle(now.Add(-settledAfter))
	values := map[string]float64{
		"requests_per_s": float64(r.requests.ended1), "errors_per_s": float64(r.requests.failed1), "bytes_per_s": float64(r.bytes1),
		"connections_opened_per_s": float64(r.opened1),
	}
	if len(r.requests.took1) > 0 {
		values["request_ms"] = mean(r.requests.took1)
	}
	if r.pages.ever {
		values["pages_per_s"], values["page_errors_per_s"] = float64(r.pages.ended1), float64(r.pages.failed1)
		values["pages_under_way"] = float64(len(r.pages.live))
	}
	if took := r.pages.took1; len(took) > 0 {
		values["page_ms"] = mean(took)
		slices.Sort(took)
		values["page_95_ms"] = inMS(took[(len(took)*95+99)/100-1])
	}
	for _, t := range []*tally{r.requests, r.pages} {
		t.ended1, t.failed1, t.took1 = 0, 0, t.took1[:0]
	}
	r.bytes1, r.opened1 = 0, 0
	return values
}

func mean(all []time.Duration) float64 {
	var sum time.Duration
	for _, each := range all {
		sum += each
	}
	return inMS(sum) / float64(len(all))
}

// The execution of the process, of which scripts' instances tell.
var execution struct {
	sync.Mutex
	state *lib.ExecutionState
}

func activeUsers() (int64, bool) {
	execution.Lock()
	defer execution.Unlock()
	if execution.state == nil {
		return 0, false
	}
	return execution.state.GetCurrentlyActiveVUsCount(), true
}
