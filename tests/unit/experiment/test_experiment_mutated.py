"""Whatever claims, variants and published points say: they are read, or refused at a line of the file."""

import json

from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.claims import KINDS
from lanelab.driver.experiment.keys import CLAIM, PUBLISHED, VARIANT
from tests.kit.experiments import ARMS, PATIENT, read

GRID = "{rate: [1mbit, unlimited], rtt: [20ms, 50ms, 100ms]}"
BASE = f"sites: [dummy, shop]\nlinks: [{GRID}, {{rate_down: 5mbit, rate_up: 1mbit, loss: 1%}}, {{profile: 3g}}]\n{ARMS}"
NAMES = ("h2", "http", "a", "b", "plt", "requests", "rtt", "rate", "loss", "queue", "link", "site", "dummy", "")
VALUES = ("20ms", "50ms", "10mbit", "unlimited", "-39%", "-100%", "5%", "8pp", "0", "24", ".", "+", "٣%", "1bdp", "~")
WORDS = ("every", "any rtt", "all but 1 queue", "all but 99999999999", "lower", "decreasing", "true", "1.3", "spdy/2")
ATOMS = st.sampled_from([*NAMES, *VALUES, *WORDS])
ANYTHING = st.recursive(
    ATOMS, lambda each: st.lists(each, max_size=3) | st.dictionaries(ATOMS, each, max_size=3), max_leaves=4
)
ABOUT = st.fixed_dictionaries(
    {"of": st.just("h2")},
    optional={
        "to": st.just("http"),
        "over": st.sampled_from(["rtt", "rate", "queue", "loss", "initial_window"]),
        **dict.fromkeys(("at", "metric", "to_at"), ATOMS),
        **dict.fromkeys(("change_of", "value_of"), st.just("b")),
    },
)
KEYS: list[str] = [*CLAIM, *KINDS]
CLAIMS = st.fixed_dictionaries({}, optional={key: ABOUT if key in KINDS else ANYTHING for key in KEYS})
LIKELY = st.builds(
    lambda kind, about, rest: {kind: about, **rest},
    st.sampled_from(sorted(KINDS)),
    ABOUT,
    st.fixed_dictionaries({}, optional=dict.fromkeys(("for", "published", "margin", "expect", "equivalent"), ATOMS)),
)
OVER_LINKS = st.dictionaries(st.sampled_from(["rtt", "rate", "rate_down", "label", "profile", "loss"]), ANYTHING)
OVER_ARMS = st.dictionaries(
    st.sampled_from(["h2", "x"]), st.dictionaries(st.sampled_from(["tls", "protocol"]), ANYTHING) | ANYTHING
)
VARIANTS = st.fixed_dictionaries(
    {}, optional={**dict.fromkeys(VARIANT, ANYTHING), "links": OVER_LINKS | ANYTHING, "arms": OVER_ARMS | ANYTHING}
)


def is_read_or_refused_at_a_line(text: str) -> None:
    try:
        read(text)
    except InputError as error:
        assert error.key.startswith("exp.yaml:")  # noqa: PT017 - some of these texts can be read


@PATIENT
@given(CLAIMS | LIKELY, CLAIMS | LIKELY)
def test_claims(one: dict[str, object], other: dict[str, object]) -> None:
    is_read_or_refused_at_a_line(f"{BASE}claims: {json.dumps({'a': one, 'b': other})}\n")


@PATIENT
@given(st.dictionaries(ATOMS, VARIANTS, max_size=2))
def test_variants(variants: dict[str, object]) -> None:
    is_read_or_refused_at_a_line(f"{BASE}variants: {json.dumps(variants)}\n")


@PATIENT
@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(PUBLISHED, ANYTHING)),
    st.sampled_from(["rtt", "arm", "link"]),
    st.sampled_from(["line", "bar", "box"]),
)
def test_published_points(published: dict[str, object], x: str, kind: str) -> None:
    figure = {"x": x, "kind": kind, "only": {"site": "dummy", "rate": "1mbit"}, "published": published}
    is_read_or_refused_at_a_line(f"{BASE}figures: {json.dumps(figure)}\n")
