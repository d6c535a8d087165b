// The users or arrivals of the experiment file, divided among the scenarios of a user's script as the script divides its own.
// Each stays a scenario of k6, with its name, `exec`, `env` and `tags`. docs/reference/load-generator.md says how.

const UNIT_S = 1000000; // of arrivals of a scenario: its share of a rate is no whole number, and k6 takes no other
const ENOUGH = 1000000; // users
const NONE = '0s';

// How many users or arrivals it is, and when, is not the scenario's to say.
const REPLACED = [
  'executor', 'exec', 'startTime', 'gracefulStop', 'vus', 'duration', 'iterations', 'maxDuration', 'startVUs', 'stages',
  'gracefulRampDown', 'rate', 'startRate', 'timeUnit', 'preAllocatedVUs', 'maxVUs',
];

const USERS = {
  'constant-vus': (one) => one.vus ?? 1,
  'ramping-vus': (one) => largest(one.startVUs ?? 1, one.stages),
  'per-vu-iterations': (one) => one.vus ?? 1,
  'shared-iterations': (one) => one.vus ?? 1,
  'externally-controlled': (one) => one.vus || one.maxVUs,
};
const ARRIVALS_PER_MS = {
  'constant-arrival-rate': (one) => one.rate / milliseconds(one.timeUnit ?? '1s'),
  'ramping-arrival-rate': (one) => largest(one.startRate ?? 0, one.stages) / milliseconds(one.timeUnit ?? '1s'),
};

// functionsOf gives what each scenario calls, by its name; `load` is the one of a script without any.
export function functionsOf(script, own) {
  const named = Object.entries(own || {}).map(([name, one]) => [name, one.exec || 'default']);
  const functions = Object.fromEntries(named.length ? named : [['load', 'default']]);
  for (const name of Object.values(functions)) {
    if (typeof script[name] !== 'function') throw new Error(`the script exports no function '${name}'`);
  }
  return functions;
}

// divided gives the scenarios for k6: `load`, which has all users or arrivals, in shares.
export function divided(load, own) {
  const names = Object.keys(own || {});
  if (!names.length) return { load };
  for (const name of names) {
    if (own[name].startTime && milliseconds(own[name].startTime) !== 0) {
      throw new Error(`the scenario '${name}' has a startTime. All users begin with the load: remove it, or make an experiment of each scenario`);
    }
  }
  const weights = weightsOf(names, own);
  let shares = [load];
  if (names.length > 1) shares = load.startVUs === undefined ? arrivals(load, names, weights) : users(load, names, weights);
  return Object.fromEntries(names.map((name, at) => [name, { ...kept(own[name]), ...shares[at] }]));
}

// kept is what k6 reads of a scenario as it is; what it does not know it refuses.
function kept(one) {
  return Object.fromEntries(Object.entries(one).filter(([key]) => !REPLACED.includes(key)));
}

// weightsOf are arrivals per time where all have such, else users: those that a scenario of arrivals has at first are comparable.
function weightsOf(names, own) {
  const allArrive = names.every((name) => own[name].executor in ARRIVALS_PER_MS);
  return names.map((name) => {
    const one = own[name];
    const ofUsers = USERS[one.executor] || (one.executor in ARRIVALS_PER_MS && ((arriving) => arriving.preAllocatedVUs));
    if (!ofUsers) throw new Error(`the scenario '${name}' has an executor that nobody knows: ${one.executor}`);
    const weight = Number(allArrive ? ARRIVALS_PER_MS[one.executor](one) : ofUsers(one));
    if (!(weight > 0 && weight < Infinity)) throw new Error(`the scenario '${name}' does not say how many users or arrivals it has`);
    return weight;
  });
}

// order says to which scenario each user belongs, in the order in which they come: the shares of the first ones are right within a user,
// however many there are.
function* order(weights) {
  const count = weights.map(() => 0);
  for (;;) {
    let next = 0;
    for (let each = 1; each < weights.length; each++) {
      if ((count[each] + 0.5) / weights[each] < (count[next] + 0.5) / weights[next]) next = each;
    }
    count[next]++;
    yield next;
  }
}

// users divides a load of users: each that comes or goes is a step of the scenario that it belongs to.
function users(load, names, weights) {
  const most = Math.max(load.startVUs, ...load.stages.map((stage) => stage.target));
  const of = belonging(most, names, weights);
  const plans = names.map(() => ({ users: 0, told: 0, stages: [] }));
  for (let user = 0; user < load.startVUs; user++) plans[of[user]].users++;
  const shares = plans.map((plan) => ({ ...load, startVUs: plan.users, stages: plan.stages }));
  let began = 0;
  let level = load.startVUs;
  for (const { target, duration } of load.stages) {
    const from = level;
    const over = milliseconds(duration);
    const when = () => began + (over * (level - from)) / (target - from);
    while (level < target) {
      level++;
      step(plans[of[level - 1]], when(), 1);
    }
    while (level > target) {
      level--;
      step(plans[of[level]], when(), -1);
    }
    began += over;
  }
  for (const plan of plans) stay(plan, began);
  return shares;
}

// belonging is order for so many users. Each scenario has one of them, or the load would be another mix than the script's.
function belonging(most, names, weights) {
  const of = [];
  const lacking = new Set(names.keys());
  for (const next of order(weights)) {
    of.push(next);
    lacking.delete(next);
    if (of.length >= most && (!lacking.size || of.length >= ENOUGH)) break;
  }
  if (of.length > most) {
    const [last] = lacking.size ? lacking : of.slice(-1);
    const least = lacking.size ? `more than ${ENOUGH}` : of.length;
    throw new Error(`with ${most} ${most === 1 ? 'user' : 'users'}, the scenario '${names[last]}' has none: its share is too small. It takes ${least} users`);
  }
  return of;
}

function step(plan, at, change) {
  stay(plan, at);
  plan.users += change;
  const last = plan.stages[plan.stages.length - 1];
  if (last && last.duration === NONE) last.target = plan.users;
  else plan.stages.push({ target: plan.users, duration: NONE });
}

function stay(plan, until) {
  const us = Math.round(until * 1000) - plan.told;
  if (us <= 0) return;
  plan.stages.push({ target: plan.users, duration: `${us}us` });
  plan.told += us;
}

// arrivals divides a load of arrivals by their rates.
function arrivals(load, names, weights) {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const unit = milliseconds(load.timeUnit) / 1000;
  return names.map((name, at) => {
    const rate = (all) => Math.round((all * weights[at] * (UNIT_S / unit)) / sum);
    const stages = load.stages.map((stage) => ({ ...stage, target: rate(stage.target) }));
    const most = Math.ceil((load.maxVUs * weights[at]) / sum);
    const share = { startRate: rate(load.startRate), timeUnit: `${UNIT_S}s`, stages, preAllocatedVUs: most, maxVUs: most };
    if (arriving(share) < 1) throw new Error(`of the arrivals of this load, the scenario '${name}' has none: its share is too small`);
    return { ...load, ...share };
  });
}

function arriving({ startRate, stages }) {
  let [before, all] = [startRate, 0];
  for (const { target, duration } of stages) {
    all += ((before + target) / 2 / UNIT_S) * (milliseconds(duration) / 1000);
    before = target;
  }
  return all;
}

function largest(first, stages) {
  return Math.max(Number(first), ...(stages || []).map((stage) => Number(stage.target)));
}

// milliseconds of a duration as k6 takes them.
function milliseconds(duration) {
  const text = String(duration);
  if (text.trim() && Number.isFinite(Number(text))) return Number(text);
  const units = { d: 86400000, h: 3600000, m: 60000, s: 1000, ms: 1, us: 0.001, 'µs': 0.001, ns: 0.000001 };
  const parts = [...text.matchAll(/([0-9.]+)(ms|us|µs|ns|d|h|m|s)/g)];
  if (!parts.length || parts.map((part) => part[0]).join('') !== text) throw new Error(`'${text}' is no duration`);
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit], 0);
}
