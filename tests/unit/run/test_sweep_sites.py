"""How a worker gets to know a run: what it refuses, and how sites come to it. No bed is made here."""

import base64
import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lanelab.driver.base import configuration
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, LanelabError, PackError
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run.start import BegunRun, begin
from lanelab.driver.run.sweep.cluster import Finished, JobName
from lanelab.driver.run.sweep.enrolment import assignment_of
from lanelab.driver.run.sweep.member import Member, Then
from lanelab.driver.run.sweep.messages import VERSION, Assignment, Lacking, PieceRequest
from lanelab.driver.run.sweep.site_packs import SitePack, SitePacks
from lanelab.driver.run.sweep.worker import jobs
from lanelab.driver.run.sweep.worker.context import WorkerContext
from lanelab.driver.run.sweep.worker.site_cache import CACHE, SiteCache
from lanelab.driver.run.sweep.worker.work import Work
from lanelab.driver.site.load import site_names

TEXT = "sites: dummy\nlinks: {rtt: 20ms}\narms: {a: {}, b: {compression: gzip}}\ntrials: 1\n"


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[BegunRun]:
    """The controller's run, made with the project's own archive of sites."""
    made = begin(parse_experiment(TEXT, "swept.yaml", site_names()), "test", tmp_path / "run", 1, {})
    yield made
    made.store.close()


@pytest.fixture
def elsewhere(begun: BegunRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - before it
    """Another machine's archive, which has no site; its build folder is beside it."""
    (tmp_path / "archive").mkdir()
    monkeypatch.setenv("LANELAB_SITES", str(tmp_path / "archive"))
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    return tmp_path / "archive"


def new_worker(folder: Path) -> WorkerContext:
    folder.mkdir()
    return WorkerContext("lent", 1, (0,), frozenset(), "auto", folder, lambda _event: None)


Spoil = Callable[[JobName, Mapping[str, Any]], Mapping[str, Any]]


@dataclass
class Line:
    """Between controller and worker: each job is done at once."""

    context: WorkerContext
    spoil: Spoil = lambda _name, payload: payload
    jobs: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)

    def start(self, member: Member, name: JobName, payload: Coded, then: Then) -> None:
        self.jobs.append(name)
        try:
            jobs.run(name, self.spoil(name, payload.to_json()), self.context)
        except LanelabError as error:
            then(member, Finished(1, "w", error=error))
        else:
            then(member, Finished(1, "w"))

    def send(self, begun: BegunRun, site: str) -> str:
        SitePacks(begun).send(Member("w", "lent/1"), site, self.start, lambda _member, why: self.ended.append(why))
        return self.ended.pop()


def assign(begun: BegunRun, context: WorkerContext, **other: object) -> list[str]:
    payload = {**assignment_of(begun).to_json(), **other}
    return list(Lacking.from_json(jobs.run("assign", payload, context)).lacks)


def work_of(context: WorkerContext) -> Work:
    kept = context.kept
    assert isinstance(kept, jobs.Kept)
    return kept.work


def test_a_machine_that_has_the_sites_is_sent_none(begun: BegunRun, tmp_path: Path) -> None:
    context = new_worker(tmp_path / "worker")
    assert assign(begun, context) == []
    assert work_of(context).assigned.served().digests() == begun.sites.digests()


def test_a_site_comes_as_it_is_served_and_stays_out_of_the_archive(
    begun: BegunRun, elsewhere: Path, tmp_path: Path
) -> None:
    context = new_worker(tmp_path / "worker")
    assert assign(begun, context) == ["dummy"]
    line = Line(context)
    assert line.send(begun, "dummy") == ""
    served = work_of(context).assigned.served()
    assert served.digests() == begun.sites.digests()
    for site, own in zip(served.prepared.values(), begun.sites.prepared.values(), strict=True):
        assert all(site.file(each).read_bytes() == own.file(each).read_bytes() for each in site.objects)
    assert list(elsewhere.iterdir()) == []
    assert list((tmp_path / "build").rglob("*.py")) == []  # never the program that makes the site
    assert list((tmp_path / "worker" / "arriving").iterdir()) == []
    assert assign(begun, new_worker(tmp_path / "another")) == []  # workers of a machine share it


def test_an_own_site_of_that_name_with_other_content_is_left_alone(
    begun: BegunRun, elsewhere: Path, tmp_path: Path
) -> None:
    own = Path(configuration.PROJECT / "sites-archive" / "dummy")
    shutil.copytree(own, elsewhere / "dummy")
    manifest = elsewhere / "dummy" / "site.yaml"
    changed = manifest.read_text().replace("entry: ", "user_agent: Other\nentry: ", 1)
    manifest.write_text(changed)
    context = new_worker(tmp_path / "worker")
    assert assign(begun, context) == ["dummy"]
    assert Line(context).send(begun, "dummy") == ""
    assert work_of(context).assigned.served().digests() == begun.sites.digests()
    assert manifest.read_text() == changed


@pytest.mark.usefixtures("elsewhere")
def test_what_is_damaged_in_the_cache_comes_again(begun: BegunRun, tmp_path: Path) -> None:
    context = new_worker(tmp_path / "worker")
    assign(begun, context)
    Line(context).send(begun, "dummy")
    body = next((tmp_path / "build" / CACHE).glob("*/bodies/*"))
    body.write_bytes(body.read_bytes() + b"x")
    assert assign(begun, context) == ["dummy"]
    assert Line(context).send(begun, "dummy") == ""


def flipped(text: str) -> str:
    data = bytearray(base64.b64decode(text))
    data[len(data) // 2] ^= 1
    return base64.b64encode(data).decode()


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("checksum_is_right", [False, True])
def test_a_piece_that_is_damaged_once_is_sent_again(
    begun: BegunRun, tmp_path: Path, *, checksum_is_right: bool
) -> None:
    """Its own checksum shows it, or that of the whole."""
    context = new_worker(tmp_path / "worker")
    assign(begun, context)
    line = Line(context)

    def spoil(name: JobName, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        if name != "site_piece" or len(line.jobs) > 1:
            return payload
        data = flipped(payload["data"])
        sha256 = hashlib.sha256(base64.b64decode(data)).hexdigest() if checksum_is_right else payload["sha256"]
        return {**payload, "data": data, "sha256": sha256}

    line.spoil = spoil
    assert line.send(begun, "dummy") == ""
    assert line.jobs.count("site_piece") == 2
    assert work_of(context).assigned.served().digests() == begun.sites.digests()


@pytest.mark.usefixtures("elsewhere")
def test_pieces_that_are_always_damaged_end_it(begun: BegunRun, tmp_path: Path) -> None:
    context = new_worker(tmp_path / "worker")
    assign(begun, context)
    line = Line(context, lambda _name, payload: {**payload, "sha256": "0" * 64})
    assert "the site dummy could not be sent" in line.send(begun, "dummy")
    assert list((tmp_path / "build" / CACHE).glob("*")) == []


@pytest.mark.usefixtures("elsewhere")
def test_a_site_that_is_not_the_runs_is_not_taken(begun: BegunRun, tmp_path: Path) -> None:
    context = new_worker(tmp_path / "worker")
    assign(begun, context)
    assert "does not have: other" in Line(context).send(begun, "other")
    done = SitePack.of("dummy", begun.sites.archived["dummy"], tmp_path / "pack").done
    for wrong in ({"name": "other"}, {"digest": "0" * 64}, {"digest": "../../outside"}):
        with pytest.raises(InputError, match="not one of the run's"):
            jobs.run("site_done", {**done.to_json(), **wrong}, context)
    piece = {"offset": 0, "data": "", "sha256": hashlib.sha256().hexdigest()}
    with pytest.raises(InputError, match="no digest of a site"):
        jobs.run("site_piece", {**piece, "digest": "../x"}, context)


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "../../outside"}, "a name or a digest that is none"),
        ({"entry_path": "/other.html"}, "is another one"),
        ({"unanswered": "text"}, "is no site"),
    ],
)
def test_what_says_that_it_is_the_site_has_to_be_it(
    begun: BegunRun, tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    context = new_worker(tmp_path / "worker")
    assign(begun, context)
    errors: list[str] = []

    def spoil(name: JobName, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**payload, "site": {**payload["site"], **wrong}} if name == "site_done" else payload

    errors.append(Line(context, spoil).send(begun, "dummy"))
    assert said in errors[0]
    assert list((tmp_path / "build" / CACHE).glob("*")) == []


@pytest.mark.usefixtures("elsewhere")
def test_bodies_have_names_that_lead_nowhere(begun: BegunRun, tmp_path: Path) -> None:
    context = new_worker(tmp_path / "worker")
    assign(begun, context)
    pack = SitePack.of("dummy", begun.sites.archived["dummy"], tmp_path / "pack")
    data = pack.path.read_bytes()
    piece = {"offset": 0, "data": base64.b64encode(data).decode(), "sha256": hashlib.sha256(data).hexdigest()}
    jobs.run("site_piece", {**piece, "digest": pack.done.digest}, context)
    site = dict(pack.done.site)
    site["objects"] = [{**each, "sha256": "../../../outside"} for each in site["objects"]]
    with pytest.raises(PackError, match="a digest that is none"):
        jobs.run("site_done", {**pack.done.to_json(), "site": site}, context)


# --- what is refused


def files_of(begun: BegunRun, **more: str) -> dict[str, str]:
    return {**assignment_of(begun).files, **more}


def test_another_version_of_the_messages_is_refused_whatever_it_says(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"speaks version 99 .* version {VERSION} "):
        jobs.run("assign", {"version": 99, "something": "else"}, new_worker(tmp_path / "worker"))


@pytest.mark.parametrize("name", ["/etc/outside", "../outside", "a/../../outside"])
def test_files_of_a_run_lead_nowhere(begun: BegunRun, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="leads elsewhere"):
        assign(begun, new_worker(tmp_path / "worker"), files=files_of(begun, **{name: "x"}))


def test_an_experiment_that_is_read_otherwise_is_refused(begun: BegunRun, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reads other cells"):
        assign(begun, new_worker(tmp_path / "worker"), cells="0" * 64)


def test_a_site_that_is_prepared_otherwise_is_refused(begun: BegunRun, tmp_path: Path) -> None:
    context = new_worker(tmp_path / "worker")
    sites = {name: digest if name == "dummy" else "0" * 64 for name, digest in begun.sites.digests().items()}
    assert len(sites) > 1
    assign(begun, context, sites=sites)
    with pytest.raises(InputError, match="makes something else of the site dummy "):
        work_of(context).assigned.served()


def test_an_assignment_ends_what_was_before(begun: BegunRun, tmp_path: Path) -> None:
    context = new_worker(tmp_path / "worker")
    assign(begun, context)
    first = work_of(context)
    assign(begun, context)
    assert work_of(context) is not first
    assert context.closing == [work_of(context).end]
    context.close()
    assert [path for path in (tmp_path / "worker").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["qualify", "play", "piece", "end_run"])
def test_a_worker_that_knows_no_run_says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="does not know the run"):
        jobs.run(name, {}, new_worker(tmp_path / "worker"))


def test_an_assignment_survives_json(begun: BegunRun) -> None:
    made = assignment_of(begun)
    assert Assignment.from_json(made.to_json()) == made


def test_a_site_that_is_not_there_is_not_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another worker of the machine may put it there in that moment."""
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path))
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: pytest.fail("it was removed"))
    assert SiteCache(tmp_path / "arriving").find("0" * 64) is None


def test_a_worker_that_was_assigned_to_another_run_does_nothing_for_the_first(tmp_path: Path) -> None:
    """Cells of both may have the same names."""
    worker = new_worker(tmp_path / "worker")
    made: Any = SimpleNamespace(experiment=None)
    worker.kept = jobs.Kept(Work(made, worker), "second")
    piece = PieceRequest("none", 0, 1).to_json()
    worker.begin_job("second")
    with pytest.raises(InputError, match="there is no pack"):
        jobs.run("piece", piece, worker)
    worker.begin_job("first")
    with pytest.raises(InputError, match="another run now"):
        jobs.run("piece", piece, worker)
