package lab

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/grafana/sobek"
	"go.k6.io/k6/js/modules"
	"go.k6.io/k6/lib"
	"go.k6.io/k6/lib/executor"
)

func init() { modules.Register("k6/x/lab", root{}) }

var theRecorder = sync.OnceValue(func() *recorder {
	s, err := settings()
	if err != nil {
		s = &Settings{} // the module says so
	}
	return newRecorder(s)
})

type root struct{}

// An instance is one user's module.
type instance struct {
	vu       modules.VU
	settings *Settings
	user     *user
}

// NewModuleInstance implements modules.Module.
func (root) NewModuleInstance(vu modules.VU) modules.Instance {
	s, err := settings()
	if err != nil {
		panic(vu.Runtime().NewGoError(err))
	}
	return &instance{vu: vu, settings: s}
}

// Exports implements modules.Instance.
func (i *instance) Exports() modules.Exports {
	s := i.settings
	return modules.Exports{Default: map[string]any{
		"begin": i.begin, "connect": i.connect, "over": i.over, "page": i.page, "beginPage": i.beginPage, "endPage": i.endPage, "random": i.random,
		"urls": s.URLs, "headers": s.Headers, "parameters": s.Parameters, "thinkSeconds": s.ThinkS,
		"timeout": fmt.Sprintf("%dms", s.timeout().Milliseconds()), "multiplexed": s.Protocol != http1,
	}}
}

// connect makes this user's requests go by our transport; they are not recorded.
func (i *instance) connect() (*lib.State, error) {
	state := i.vu.State()
	if state == nil {
		return nil, errors.New("lab: there is no user yet")
	}
	if i.user == nil {
		i.user = newUser(i.settings, theRecorder(), state)
	}
	state.Transport = i.user
	return state, nil
}

// over is for teardown, which begins when no iteration is under way any more.
func (i *instance) over() error {
	theRecorder().isOver(time.Now())
	_, err := i.connect()
	return err
}

// begin begins an iteration, and says of which scenario.
func (i *instance) begin() (string, error) {
	if _, err := i.connect(); err != nil {
		return "", err
	}
	ctx := i.vu.Context()
	scenario, run := lib.GetScenarioState(ctx), lib.GetExecutionState(ctx)
	if scenario == nil || run == nil {
		return "", errors.New("lab: an iteration begins in a scenario")
	}
	execution.Lock()
	execution.state = run
	execution.Unlock()
	theRecorder().begins(scenario.StartTime)
	var due *arrival
	if len(i.settings.Arrivals) > 0 {
		var err error
		plan := func() ([]Stage, error) { return planOf(run.Test.Options.Scenarios[scenario.Name]) }
		if due, err = theRecorder().arrives(scenario.Name, plan); err != nil {
			return "", err
		}
	}
	i.user.begins(ctx, due)
	return scenario.Name, nil
}

// planOf is what k6 plays of arrivals.
func planOf(scenario lib.ExecutorConfig) ([]Stage, error) {
	config, ok := scenario.(*executor.RampingArrivalRateConfig)
	if !ok {
		return nil, fmt.Errorf("lab: a scenario of arrivals is a %T", scenario)
	}
	unit := config.TimeUnit.TimeDuration().Seconds()
	stages := []Stage{{float64(config.StartRate.Int64) / unit, 0}}
	for _, each := range config.Stages {
		stages = append(stages, Stage{float64(each.Target.Int64) / unit, each.Duration.TimeDuration().Seconds()})
	}
	return stages, nil
}

func (i *instance) ofUser(act func(*user) error) error {
	if i.user == nil {
		return errors.New("lab: lab.begin() comes first")
	}
	return act(i.user)
}

func (i *instance) beginPage() error { return i.ofUser((*user).beginPage) }
func (i *instance) endPage() error   { return i.ofUser((*user).endPage) }

// page is what happens while a function runs.
func (i *instance) page(do sobek.Callable) (sobek.Value, error) {
	if err := i.beginPage(); err != nil {
		return nil, err
	}
	result, err := do(sobek.Undefined())
	if err == nil && result != nil {
		if _, promised := result.Export().(*sobek.Promise); promised {
			err = errors.New("lab: a page that waits for promises is between beginPage() and endPage()")
		}
	}
	if err != nil {
		i.user.pageFails()
		return nil, err
	}
	return result, i.endPage()
}

// random is a number from 0 to 1 that depends on the seed, the user and how many were asked for before.
func (i *instance) random() (float64, error) {
	if _, err := i.connect(); err != nil {
		return 0, err
	}
	return i.user.random.Float64(), nil
}
