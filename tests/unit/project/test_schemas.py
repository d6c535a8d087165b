"""docs/schemas: they follow the types, and what lanelab writes is what they say.

python -m tools.schemas     writes them again
"""

import dataclasses
import json
import shutil
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import click
import jsonschema  # type: ignore[import-untyped]
import pytest
from click.testing import CliRunner

import lanelab
from lanelab.driver.api.link_words import link_test_json
from lanelab.driver.api.read_events import RUN_EVENTS
from lanelab.driver.api.verify_site import VerifiedSite
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs.finding import Finding
from lanelab.driver.bed.ssh.findings import HostFinding
from lanelab.driver.bed.vagrant.machines import Machine
from lanelab.driver.cli import link, site, study
from lanelab.driver.cli.claims import claims
from lanelab.driver.cli.compare import compare
from lanelab.driver.cli.doctor import doctor
from lanelab.driver.cli.explain import explain
from lanelab.driver.cli.main import lanelab as lanelab_command
from lanelab.driver.cli.packets import packets
from lanelab.driver.cli.run_list import runs
from lanelab.driver.cli.show import show
from lanelab.driver.cli.verify import verify
from lanelab.driver.link import Link
from lanelab.driver.link.results import Result as Property
from lanelab.driver.link.results import SelfTest
from lanelab.driver.record.metrics import PRIMARY
from lanelab.driver.run.events import EVENTS, Event, Notice, TrialStored
from tests.kit.fidelities import FOUND
from tests.kit.made_load_run import make_load_run
from tests.kit.made_run import Made, MadeMachine, make_run
from tests.kit.made_study import make_study_run
from tools import schemas
from tools.bench.figures import Figure
from tools.json_types import Types

ALL = schemas.schemas()


def closed(schema: Any) -> Any:
    """Return a schema that takes no key which is not listed: what is written has no other."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    listed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return {**listed, **{key: closed(below) for key, below in schema.items()}}


def check(name: str, data: object) -> None:
    """Hold a document, as it is written, against its schema."""
    written = json.loads(json.dumps(data, allow_nan=False))
    jsonschema.Draft202012Validator(closed(ALL[name])).validate(written)


def sample(hint: Any) -> Any:  # noqa: PLR0911 - a line for each kind of type
    """Return some value of a type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return sample(arguments[0])
    if origin is typing.Literal:
        return arguments[-1]
    if origin is tuple:
        return (sample(arguments[0]),)
    if origin is not None and issubclass(origin, Mapping):
        return {"a": sample(arguments[1])}
    if hint is Event:
        return Notice("a link is slow")
    if dataclasses.is_dataclass(hint):
        return made(hint)
    return next(iter(hint)) if issubclass(hint, StrEnum) else hint(1)


def made(kind: Any) -> Any:
    hints = typing.get_type_hints(kind)
    values = {field.name: sample(hints[field.name]) for field in dataclasses.fields(kind)}
    return kind(**values)


def test_they_follow_the_types() -> None:
    published = {path.name: path.read_text() for path in schemas.FOLDER.iterdir()}
    assert published == schemas.files(), "python -m tools.schemas writes them again"


@pytest.mark.parametrize("name", ALL)
def test_each_is_a_schema_with_a_version(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(ALL[name])
    assert ALL[name]["$id"] == f"urn:lanelab:{name}:1"


@pytest.mark.parametrize("kind", RUN_EVENTS, ids=lambda kind: kind.__name__)
def test_each_event_is_valid_and_nothing_less_is(kind: type[Event]) -> None:
    event = made(kind)
    if isinstance(event, TrialStored):
        event = dataclasses.replace(event, metric=next(iter(PRIMARY.values())), value=None)
    written = event.to_json()
    check("event", written)
    for key in written:
        with pytest.raises(jsonschema.ValidationError):
            check("event", {other: value for other, value in written.items() if other != key})


def test_the_reference_names_every_event() -> None:
    text = (PROJECT / "docs" / "reference" / "json.md").read_text()
    assert [each.kind for each in RUN_EVENTS if f"`{each.kind}`" not in text] == []


def test_events_may_have_more_keys_than_this_version_knows() -> None:
    jsonschema.Draft202012Validator(ALL["event"]).validate({**made(EVENTS[0]).to_json(), "to_come": 1})


def test_an_event_that_nobody_knows_is_invalid() -> None:
    with pytest.raises(jsonschema.ValidationError):
        check("event", {"event": "unheard-of"})


def test_a_type_without_a_form_is_named() -> None:
    with pytest.raises(TypeError, match="has no form in JSON"):
        Types().of(complex)


def test_two_types_of_one_name_are_refused() -> None:
    known = Types()
    known.of(Notice)
    with pytest.raises(TypeError, match="two types are called Notice"):
        known.of(dataclass(type("Notice", (), {"__annotations__": {"what": str}})))


# --- what is written


@pytest.fixture(scope="module")
def run() -> lanelab.Run:
    return lanelab.sample_run()


def printed(command: Any, *words: object) -> Any:
    result = CliRunner().invoke(command, [*map(str, words), "--json"], catch_exceptions=False)
    return json.loads(result.stdout)


def test_the_sample_run_is_shown_and_judged_as_the_schemas_say(run: lanelab.Run) -> None:
    check("show", printed(show, run.folder))
    check("export", run.everything())
    check("export", run.everything(requests=True))
    check("claims", printed(claims, run.folder))
    check("runs", printed(runs, run.folder.parent))
    check("verify", printed(verify, run.folder))
    check("explain", printed(explain, run.folder))
    check("explain", printed(explain, run.folder, "--trial", 2))
    for number in (2, 10):  # one that counts, and one that failed
        check("trial", printed(show, run.folder, "--trial", number))


@pytest.mark.parametrize("name", ["load-time-guard", "moving-links", "gateway-cost"])
def test_plans_of_what_is_shipped(name: str) -> None:
    check("plan", lanelab.plan(PROJECT / "experiments" / f"{name}.yaml").to_json())


def test_a_plan_over_several_beds() -> None:
    check("plan", lanelab.plan(PROJECT / "experiments" / "quickstart.yaml", workers=2).to_json())


TWO = (MadeMachine("lab1"), MadeMachine("lab2", pace=1.5, change=1.3, refused=("100ms",)))
OTHERS: Sequence[dict[str, Any]] = (
    {},
    {"rounds": 1, "order": "sequential"},
    {"gateway": True, "beds": 4},
    {"noise": 0.2, "state": "stopped"},
    {"machines": TWO, "beds": 4, "rounds": 18, "origins": {1: "an older run"}},
)


@pytest.mark.parametrize("options", OTHERS, ids=("usual", "few", "gateway", "noisy", "machines"))
def test_so_are_other_runs(tmp_path: Path, options: dict[str, Any]) -> None:
    arms = {"http": {"protocol": "http/1.1"}, "h2": {"protocol": "h2", "tls": "1.3"}}
    more = {key: value for key, value in options.items() if key != "gateway"}
    if "gateway" in options:
        arms["through"] = {"protocol": "http/1.1", "via": "gateway"}
    folders = [
        make_run(tmp_path / name, Made(**{"with_requests": False, "arms": arms, "rounds": 8, **more, "seed": seed}))
        for seed, name in enumerate(("a", "b"), 7)
    ]
    check("show", printed(show, folders[0]))
    check("compare", printed(compare, *folders))
    check("runs", printed(runs, tmp_path))


def test_a_run_of_server_loads_too(tmp_path: Path) -> None:
    folder = make_load_run(tmp_path / "load")
    check("show", printed(show, folder))
    check("export", lanelab.open_run(folder).everything())
    check("trial", printed(show, folder, "--trial", 1))


def test_what_is_not_so_is_refused(run: lanelab.Run) -> None:
    """It must be able to fail."""
    changes: Sequence[dict[str, object]] = ({"state": 1}, {"unheard_of": True}, {"drift": {}})
    for change in changes:
        with pytest.raises(jsonschema.ValidationError):
            check("show", {**run.results(), **change})


def test_evidence_of_another_workload_is_refused(run: lanelab.Run) -> None:
    whole = printed(show, run.folder, "--trial", 2)
    with pytest.raises(jsonschema.ValidationError):
        check("trial", {**whole, "evidence": {"unheard_of": 1}})
    with pytest.raises(jsonschema.ValidationError):
        check("trial", {**whole, "recordings": {"unheard_of": {}}})


def test_findings_of_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    findings = [Finding("ok", "Python", "3.11"), Finding("note", "sch_netem", "not loaded", "modprobe sch_netem")]
    monkeypatch.setattr("lanelab.driver.cli.doctor.examine", lambda: findings)
    check("doctor", printed(doctor))


def test_findings_about_hosts() -> None:
    finding = HostFinding("gap", "kernel", "5.10", "Use a newer one", node="router", host="lab1")
    check("hosts-check", [finding.to_json()])


def test_links() -> None:
    check("link-list", printed(link.group, "list"))
    check("link-trace-list", printed(link.group, "trace", "list"))
    check("link-trace-show", printed(link.group, "trace", "show", "lte-driving"))
    check("link-show", printed(link.group, "show", "3g", "--router", "kernel"))
    results = (
        Property("rtt", "ms", 40.0, 40.2, 39.5, 40.5, "ok", "median of 40"),
        Property("loss down", "%", None, None, None, None, "not measured", ""),
    )
    check("link-test", link_test_json(Link.parse({"rtt": "40ms"}), "uml", "6.1", SelfTest(results, 1.5)))


def test_sites() -> None:
    check("site-list", printed(site.group, "list"))
    check("site-show", printed(site.group, "show", "dummy"))
    check("site-diff", printed(site.group, "diff", "dummy", "dummy"))
    check("site-minify", printed(site.group, "minify", "dummy"))


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_packets(run: lanelab.Run) -> None:
    check("packets", printed(packets, run.folder, "--trial", 2))
    check("packets-request", printed(packets, run.folder, "--trial", 2, "--request", 3))


def test_the_first_packets_of_a_load(tmp_path: Path) -> None:
    capture = (PROJECT / "tests" / "data" / "quic" / "chromium.pcapng.gz").read_bytes()
    run = make_load_run(tmp_path / "run", rounds=1, files={"first.pcapng.gz": capture})
    check("packets-load", printed(packets, run, "--trial", 1))


def test_virtual_machines() -> None:
    up = Machine("client", "running", "192.168.121.10").to_json()
    for daemon in (None, {"pid": 12, "uri": "qemu:///session", "driver": "kvm"}):
        check("vm-status", {"machines": [up], "libvirtd": daemon})


def test_studies(tmp_path: Path) -> None:
    check("study-list", printed(study.group, "list"))
    check("study-list", [{"name": "mine", "problem": "study.yaml cannot be read"}])
    check("study-show", printed(study.group, "show", "spdy-vs-http-2012"))
    folders = [make_study_run(tmp_path / "one"), make_study_run(tmp_path / "two", made=lambda _: Made(rounds=8))]
    check("study-run", printed(study.group, "show", folders[0]))
    check("study-compare", printed(study.group, "compare", *folders))
    check("study-matrix", printed(study.group, "matrix", *folders))


def test_how_faithful_a_site_is(tmp_path: Path) -> None:
    """What `lanelab site verify` writes, which needs a bed."""
    lists = (("http/1.1", ("GET dummy.test/a.png was missing",)), ("h2", ()))
    check(
        "site-verify", VerifiedSite((), "dummy", tmp_path, tmp_path, tmp_path / "fidelity.html", FOUND, lists).to_json()
    )


def test_benchmarks() -> None:
    check("bench", [figure.to_json() for figure in (Figure("a", "3 s", "2 s", False, (2.9, 3.1)), made(Figure))])


def commands_with_json(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of each command that has --json."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from commands_with_json(below, (*words, name))
    elif any("--json" in parameter.opts for parameter in command.params):
        yield words


def test_all_that_is_printed_as_json_has_a_schema() -> None:
    titles = [title for title, _ in schemas.DOCUMENTS.values()]
    others = {"run": "event", "sites": "site-list"}  # by the name of the document
    absent = []
    for words in commands_with_json(lanelab_command):
        named = ("bench", "NAME") if words[0] == "bench" else words
        begin = f"lanelab {' '.join(named)} "
        if not any(title.startswith(begin) for title in titles) and others.get(words[0], "") not in ALL:
            absent.append(words)
    assert absent == []
