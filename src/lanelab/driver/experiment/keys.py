"""The keys of an experiment file outside its links and arms. Those without a kind are read by code of their own."""

import re
from collections.abc import Mapping

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import (
    DURATION,
    FLAG,
    LARGEST_SEED,
    MOST_BEDS,
    PERCENT,
    PROSE,
    Kind,
    choice,
    count,
)
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.units import Duration, Ratio
from lanelab.driver.experiment.load_tables import LOAD_USERS, LONG_DURATION, WORKLOAD
from lanelab.driver.record import metrics
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.metrics import FETCH, PAGE_LOAD
from lanelab.driver.trial.recorders.registry import RECORDERS

COURSE = "series"
KINDS_OF_FIGURE = ("line", "bar", "box", "cdf", "heatmap", "parts", "sequence", COURSE)
OF_COURSE = ("users", "time")  # what a series is drawn over, and where claims look at it
SCALES = ("zero", "fit", "log")
CHANGE = "change"
METRICS = tuple(metric.key for metric in metrics.METRICS)
MOST_TRIALS = 10_000
SHORTEST_TIMEOUT, LONGEST_TIMEOUT = Duration.parse("1s"), Duration.parse("3600s")


def read_name(value: object, key: str = "") -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", value):
        what = f"{str(value)[:64]!r} cannot be a name"
        raise InputError(what, "Write letters, digits, points, dashes and underscores, 64 at most", key=key)
    return value


def _timeout(value: object, key: str) -> Duration:
    timeout = Duration.parse(value, key=key)
    if not SHORTEST_TIMEOUT <= timeout <= LONGEST_TIMEOUT:
        raise InputError(f"{timeout} cannot be used", f"Write {SHORTEST_TIMEOUT} to {LONGEST_TIMEOUT}", key=key)
    return timeout


def _interval(value: object, key: str) -> Ratio:
    ratio = Ratio.parse(value, key=key)
    if not ratio:
        raise InputError("an interval of 0% is never reached", "Write one like 2%", key=key)
    return ratio


def with_steps(kind: Kind) -> Kind:
    """Return the kind with metrics of steps of a journey."""

    def parse(value: object, key: str) -> object:
        return value if isinstance(value, str) and metrics.OF_STEP in value else kind.parse(value, key)

    return Kind(kind.metavar, kind.written, parse, {"anyOf": [kind.schema, dict(OF_STEP_SCHEMA)]})


OF_STEP_SCHEMA = {"type": "string", "pattern": "^[a-z0-9_]+@[a-z0-9-]+$"}
TRIALS = count("TRIALS", "trials", 1, MOST_TRIALS)
BEDS = count("BEDS", "beds", 1, MOST_BEDS)
# fmt: off
EXPERIMENT = Table((
    Setting("name", Kind("NAME", "letters, digits, `.`, `_`, `-`", read_name), "", "what runs are called after",
        "my-first", default_words="the file's name"),
    Setting("description", PROSE, "", "what it is about; shown in the report", "HTTP/2 on slow links",
        default_words="none"),
    Setting("sites", None, "", "archived sites to load", "[dummy]", "a name or a list of names"),
    Setting("workload", None, PAGE_LOAD,
        "what a trial does: a browser loads a page, [a server is put under load](#workload), or [objects are "
        "fetched](fetch.md) without a browser",
        "{kind: load, users: 100, duration: 60s}",
        f"`{PAGE_LOAD}`, `{FETCH}`, or a mapping of [keys](#workload)"),
    Setting("links", None, "", "links to load them over; any setting may be a list, which makes a grid",
        "{rate: 10mbit, rtt: [20ms, 100ms]}",
        "a mapping of [settings of the link](link.md), the name of a profile, or a list of such"),
    Setting("distances", None, "", "[distances](link.md#distances) of all links that have none of their own",
        "{cdn.example: 10ms, default: 80ms}", "a mapping of hosts, `recorded`, or `none`", "none"),
    Setting("arms", None, "", "treatments to compare, each with a name", "{http: {}, h2: {protocol: h2, tls: 1.3}}",
        "a mapping of names, each with [settings](#arms)"),
    Setting("defaults", None, "", "settings that lie under each arm's own", "{viewport: 412x823}",
        "[settings of an arm](#arms)", "none"),
    Setting("cells", None, "", "exactly these are run, instead of every site x link x arm", "[{arm: http}]",
        "a list of [cells](#cells)", "every combination"),
    Setting("compare", None, "", "which arms are compared with which", "[{of: h2, to: http}]",
        "a list of [pairs](#compare), or a mapping like `{h2: http}`",
        "every arm with the first"),
    Setting("pages", None, "", "the pages that each trial loads one after the other in one browser session: a "
        "[journey](journeys.md)", "[home, article, {back: true}]", "a list of names of the site's pages, or of "
        "[keys](journeys.md#steps)", "the entry alone"),
    Setting("think", DURATION, "", "with `pages`: the time between the end of a load and the next step", "2s",
        "a time, `1s` or more", "`5s`"),
    Setting("script", PROSE, "", "a Selenium script of your own that makes the journey, [instead of "
        "`pages`](journeys.md#scripts); its steps are those that it marks", "journey.py",
        "the path of a Python file below the experiment's folder", "none"),
    Setting("trials", TRIALS, "5", "how many trials each cell gets", "3", default_words="`5`, unless `until` is given"),
    Setting("until", None, "", "go on until results are known well enough, instead of `trials`",
        "{ci: 2%, max: 30}",
        "[keys](#trials-and-until)", "a fixed number of trials"),
    Setting("beds", BEDS, "1", "over how many fresh beds the rounds are divided: [see below](#beds)", "3"),
    Setting("order", choice("ORDER", "interleaved", "random", "sequential"), "interleaved",
        "the order of trials: [see below](#order)", "random"),
    Setting("seed", count("SEED", "your choice", 0, LARGEST_SEED), "", "of the random order", "42",
        f"a whole number, 0 to {LARGEST_SEED}", default_words="a new one for each run, recorded"),
    Setting("missing", choice("HOW", "fail", "404", also={"not-found": "404"}), "fail",
        "what a request means for which the site has no answer: the trial fails, or the server answers 404 and the "
        "trial counts, as in experiments of 2012", "404"),
    Setting("tolerances", None, "", "what a trial may lack and still count", "{missing: 1}", "[keys](#tolerances)",
        "nothing"),
    Setting("claims", None, "", "published statements that the run is to judge",
        "{faster: {change: {of: h2, to: http}, expect: lower}}", "a mapping of names, each a [claim](claims.md)",
        "none"),
    Setting("variants", None, "", "the same experiment with other settings: chosen by `--variant`",
        "{today: {defaults: {tls: 1.3}}}", "a mapping of names, each with [keys](#variants)", "none"),
    Setting("figures", None, "", "charts of the report", "[{x: rtt, y: plt, series: arm}]",
        "a list of [figures](#figures)",
        "page load time over the link settings that vary, a curve for each arm"),
    Setting("retries", count("RETRIES", "retries", 0, 100), "2", "how often a failed trial is tried again", "0"),
    Setting("timeout", Kind("DURATION", f"{SHORTEST_TIMEOUT} to {LONGEST_TIMEOUT}", _timeout, DURATION.schema),
        "60s",
        "how long a page load may take", "120s"),
    *(recorder.setting for recorder in RECORDERS.values()),
))
UNTIL = Table((
    Setting("ci", Kind("PERCENT", "`%`", _interval, PERCENT.schema), "",
        "go on until every 95% interval reaches no further than this from what it is of", "2%"),
    Setting("of", choice("OF", "median", "change"), "median",
        "what has to be known: the median of every cell, or the change of every [comparison](#compare)", "change"),
    Setting("max", TRIALS, "30", "the most trials of a cell", "50"),
    Setting("min", TRIALS, "8", "the fewest, after which the first look is taken", "10"),
))
STEP = Table((
    Setting("page", PROSE, "", "the page that is loaded, by its name in the site", "article", default_words="none"),
    Setting("back", FLAG, "false", "go back to the page before by the browser's own way back", "true"),
    Setting("think", DURATION, "5s", "the time since the load before, instead of the experiment's `think`", "2s",
        "a time, `1s` or more", "the experiment's"),
))
COMPARE = Table((
    Setting("of", None, "", "arms that are compared", "[h2, spdy]", "a name or a list", required=True),
    Setting("to", None, "", "arms that they are compared with", "http", "a name or a list", required=True),
))
TOLERANCES = Table((
    Setting("missing", count("REQUESTS", "requests", 0, 1_000_000), "0", "objects of the site that were not asked for",
        "1"),
    Setting("extra", count("REQUESTS", "requests", 0, 1_000_000), "0", "requests to the site for what it does not have",
        "1"),
    Setting("outside", count("REQUESTS", "requests", 0, 1_000_000), "0", "requests to hosts that are not the site's",
        "3"),
    Setting("inexact", count("REQUESTS", "requests", 0, 1_000_000), "0",
        "requests with another query than was recorded, which the server answered with the nearest object", "2"),
))
CELL = Table((
    Setting("site", None, "", "of `sites`", "dummy", "a name or a list", "all of `sites`"),
    Setting("link", None, "", "labels of `links`, or settings of links", "{rtt: 20ms}",
        "a label or a list of labels; or as `links`", "all of `links`"),
    Setting("arm", None, "", "of `arms`", "[http, h2]", "a name or a list", "all of `arms`"),
))
FIGURE = Table((
    Setting("title", PROSE, "", "its heading", "Page load time over RTT", default_words="made from the rest"),
    Setting("x", None, "", "what it is drawn over", "rtt", "`arm`, `site`, `link` or a setting of the link; with "
        "`kind: series` `time` or `users`",
        "the link setting that varies most, else `arm`"),
    Setting("y", with_steps(choice("METRIC", *METRICS, CHANGE, *(each for each in SERIES if each not in METRICS))), "",
        "what is drawn, the median of each cell; `change`: how much each arm changes the load time, [round by "
        "round](#figures)", "fcp", "a [metric](metrics.md), of a [journey](journeys.md) METRIC@STEP, `change`, or a "
        "[series](metrics.md#series)",
        default_words="`plt`; with `workload: load` `requests_per_s`, with `fetch` `fetch`"),
    Setting("series", None, "", "what has a colour of its own; in a `heatmap` a row of its own", "arm",
        "as `x`, or `none`", "`arm`, when there are several"),
    Setting("facet", None, "", "what has a panel of its own", "site", "as `x`, or `none`",
        "the one thing that varies besides, if any"),
    Setting("kind", choice("KIND", *KINDS_OF_FIGURE), "", "how it is drawn: [see below](#kinds-of-figures)", "box",
        default_words="`line` over numbers, else `bar`"),
    Setting("scale", choice("SCALE", *SCALES), "",
        "where the axis of the values begins: at 0, near the least value (`fit`), or logarithmic; of `line`, `box` and "
        "`cdf`", "log", default_words="`zero`; with `box` and `cdf` `fit`, unless values begin near 0"),
    Setting("every", LONG_DURATION, "", "with `kind: series`: the span of time of each point", "30s",
        default_words="1/40 of the load"),
    Setting("limit", FLAG, "false",
        "with `kind: series` and `y: page_all_ms` or `page_ms`: draws how long a page may take, and "
        "where "
        "each arm first takes as long", "true"),
    Setting("only", None, "", "which cells it shows", "{rate: 10mbit, arm: [http, h2]}",
        "`arm`, `site`, `link` or settings of the link, each with a value or a list", "all"),
    Setting("published", None, "", "what was published in this place, drawn beside what was measured",
        "{axis: 700, points: {h2: {20ms: 581}}}", "[keys](#published)", "nothing"),
))
VARIANT = Table((
    Setting("description", PROSE, "", "what it stands for", "the software of 2012", default_words="none"),
    Setting("defaults", None, "", "settings over those of the file's `defaults`", "{tls: 1.3}",
        "[settings of an arm](#arms)", "none"),
    Setting("arms", None, "", "settings over those of the file's arms of these names", "{SPDY: {protocol: h2}}",
        "a mapping of names, each with [settings](#arms)", "none"),
    Setting("links", None, "", "settings over those of all of the file's links", "{initial_window: 10}",
        "[settings of the link](link.md)", "none"),
))
CLAIM = Table((
    Setting("says", PROSE, "", "the statement, as it was published", "SPDY reduces PLT by 39%",
        default_words="its name"),
    Setting("source", PROSE, "", "where it was published: in a study `STUDY#NUMBER`", "spdy-vs-http-2012#1",
        default_words="none"),
    Setting("change", None, "", "it is about how much an arm changes a metric", "{of: h2, to: http, metric: plt}",
        "[keys](#change)", "this, or one of the next seven"),
    Setting("value", None, "", "it is about a metric itself", "{of: http, metric: connections_used}",
        "[keys](#value)", "see above"),
    Setting("trend", None, "", "it is about how a change or a value grows", "{change_of: faster, over: rtt}",
        "[keys](#trend)", "see above"),
    Setting("spike", None, "", "it is about one value that stands out from its neighbours",
        "{of: h2, over: rtt, at: 70ms}", "[keys](#spike)", "see above"),
    Setting("contrast", None, "", "it is about how a change or a value compares with another",
        "{change_of: faster, at: {rtt: 200ms}, to_at: {rtt: 20ms}}", "[keys](#contrast)", "see above"),
    Setting("slope", None, "", "it is about how many round trips a load costs", "{of: h2, over: rtt}",
        "[keys](#straight-lines)", "see above"),
    Setting("intercept", None, "", "it is about what a load would take without round trips", "{of: h2, over: rtt}",
        "[keys](#straight-lines)", "see above"),
    Setting("straightness", None, "", "it is about how well a straight line fits", "{of: h2, over: rtt}",
        "[keys](#straight-lines)", "see above"),
    Setting("where", None, "", "the sites and links that it is about", "{rate: 10mbit, rtt: 100ms}",
        "`site`, `link` or settings of the link, each with a value or a list", "all"),
    Setting("for", None, "", "in how many of these it has to hold, or `mean`: on average", "every rtt",
        "`every`, `any`, `all but N` or `mean`, and what they differ in: a setting of the link, `site` or `place`",
        "there is one"),
    Setting("published", None, "", "the published number, or both ends of a range", "[-8%, -3%]",
        "a change in percent, or a value", "this, or one of the next two"),
    Setting("margin", None, "", "how far from `published` still counts as reproduced, decided before the run", "8pp",
        "percentage points of a change; a share or an amount of a value", "needed with `published`"),
    Setting("because", PROSE, "", "why the margin is what it is", "read from a chart, +-100 ms", default_words="none"),
    Setting("expect", None, "", "the direction, where no number was published", "lower",
        "`lower` or `higher`; of a trend `decreasing` or `increasing`; also with `not` before it", "see above"),
    Setting("equivalent", None, "", "the claim is that there is no effect larger than this", "5%", "a percentage",
        "see above"),
    Setting("at_least", PERCENT, "1%", "a smaller effect is no direction", "5%"),
))
_AT_A_PLACE = (
    Setting("series", None, "", "what is compared, instead of a metric: a number over time of a load", "page_ms",
        "a series", "none"),
    Setting("at", None, "", "where: when there first were so many users, or so long after the load began",
        "{users: 200}", "`users` or `time`", "needed with `series`"),
    Setting("since", None, "", "compares by how much the series grew since this earlier place", "{users: 100}",
        "`users` or `time`", "none: what it is at the place"),
)
CLAIM_CHANGE = Table((
    Setting("of", None, "", "the arm", "h2", "a name", required=True),
    Setting("to", None, "", "the arm that it is compared with", "http", "a name", required=True),
    Setting("metric", None, "", "what is compared", "bytes_down", "a metric", "the workload's own, like `plt`"),
    *_AT_A_PLACE,
))
CLAIM_VALUE = Table((
    Setting("of", None, "", "the arm", "h2", "a name", required=True),
    Setting("metric", None, "", "what is compared", "connections_used", "a metric", "the workload's own, like `plt`"),
    *_AT_A_PLACE,
))
CLAIM_TREND = Table((
    Setting("change_of", None, "", "the claim whose change may grow", "faster", "a claim's name",
        "this or one of the next two"),
    Setting("value_of", None, "", "the claim whose value may grow", "connections", "a claim's name", "see above"),
    Setting("of", None, "", "the arm whose metric may grow", "http", "a name", "see above"),
    Setting("metric", None, "", "what of the arm may grow", "plt", "a metric", "the workload's own, like `plt`"),
    Setting("over", None, "", "what it grows with", "rtt", "a setting of the link that is a number", required=True),
))
CLAIM_SPIKE = Table((
    Setting("of", None, "", "the arm", "h2", "a name", required=True),
    Setting("metric", None, "", "what stands out", "plt", "a metric", "the workload's own, like `plt`"),
    Setting("over", None, "", "along which it stands out", "rtt", "a setting of the link that is a number",
        required=True),
    Setting("at", None, "", "where", "70ms", "a value of that setting", required=True),
))
CLAIM_CONTRAST = Table((
    Setting("change_of", None, "", "the claim whose change is compared", "faster", "a claim's name",
        "this or one of the next two"),
    Setting("value_of", None, "", "the claim whose value is compared", "load", "a claim's name", "see above"),
    Setting("of", None, "", "the arm whose metric is compared", "http", "a name", "see above"),
    Setting("metric", None, "", "what of the arm is compared", "plt", "a metric", "the workload's own, like `plt`"),
    Setting("to", None, "", "the claim whose change or value it is compared with", "minified", "a claim's name",
        "the same claim"),
    Setting("at", None, "", "where the one is, if that is not where the other is", "{rtt: 200ms}",
        "`site`, `link` or settings of the link, each with a value", "the same place"),
    Setting("to_at", None, "", "where the other is, in the same keys", "{rtt: 20ms}", "as `at`",
        "needed with `at`"),
))
CLAIM_LINE = Table((
    Setting("of", None, "", "the arm", "h2", "a name", required=True),
    Setting("to", None, "", "of a slope: the arm with whose slope it is compared", "http", "a name", "none"),
    Setting("metric", None, "", "what grows", "plt", "a metric", "the workload's own, like `plt`"),
    Setting("over", None, "", "what it grows with: of a slope a time", "rtt", "a setting of the link that is a number",
        required=True),
))
PUBLISHED = Table((
    Setting("source", PROSE, "", "where the numbers stand", "figure 7", default_words="none"),
    Setting("axis", None, "", "where the published axis of the values ended", "700", "a number", "unknown"),
    Setting("points", None, "", "the published values", "{h2: {20ms: 581}}",
        "of each series a mapping from the values of `x` to numbers", "none were published"),
))
# fmt: on
SECTIONS: Mapping[str, Table] = {
    "experiment": EXPERIMENT,
    "workload": WORKLOAD,
    "users": LOAD_USERS,
    "step": STEP,
    "until": UNTIL,
    "compare": COMPARE,
    "tolerances": TOLERANCES,
    **{name: recorder.keys for name, recorder in RECORDERS.items() if recorder.keys},
    "cell": CELL,
    "figure": FIGURE,
    "published": PUBLISHED,
    "variant": VARIANT,
}
# Those of a claim, which docs/reference/claims.md has.
CLAIM_SECTIONS: Mapping[str, Table] = {
    "claim": CLAIM,
    "change": CLAIM_CHANGE,
    "value": CLAIM_VALUE,
    "trend": CLAIM_TREND,
    "spike": CLAIM_SPIKE,
    "contrast": CLAIM_CONTRAST,
    "line": CLAIM_LINE,
}
