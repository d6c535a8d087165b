"""The schemas of what lanelab writes as JSON, docs/schemas/, from the types that it is written from; and those of the
files about sites that people write.

    python -m tools.schemas

writes them again.
"""

from typing import Any

from lanelab.analysis.results.against import AgreementJson
from lanelab.analysis.results.explain.run import Explained
from lanelab.analysis.results.export import ExportJson, ShowJson
from lanelab.analysis.results.first_packets import FirstPackets
from lanelab.analysis.results.runs import RunLine
from lanelab.analysis.results.study.compare import StudyComparisonJson
from lanelab.analysis.results.study.matrix import MatrixJson
from lanelab.analysis.results.trial_packets import RequestSummary
from lanelab.analysis.results.verification import VerificationJson
from lanelab.driver.api.link_words import NamedLink, ShownLink, TestedLink
from lanelab.driver.api.own_machines import MachinesStatus
from lanelab.driver.api.plans import PlanJson
from lanelab.driver.api.read_events import RUN_EVENTS
from lanelab.driver.api.request_packets import RequestJson
from lanelab.driver.api.results import ClaimsJson
from lanelab.driver.api.study import StudyLine, UnreadableStudy
from lanelab.driver.api.study_data import StandingJson, StudyJson
from lanelab.driver.api.traces import TraceFacts, WholeTrace
from lanelab.driver.api.verify_site import VerifiedSiteJson
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.cli.doctor import DoctorJson
from lanelab.driver.cli.hosts import HostFindings
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run import events
from lanelab.driver.site.description import SiteDescription
from lanelab.driver.site.difference import Difference
from lanelab.driver.site.facts import SiteFacts
from lanelab.driver.site.minify.report import MinifyReport
from tools.bench.figures import Figure
from tools.input_schemas import input_schemas
from tools.json_types import Schema, Types, by_kind
from tools.schema_parts import schema_text

FOLDER = PROJECT / "docs" / "schemas"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
EVENT = "event"
VERSION = 1  # of the documents; counts up when a key changes its meaning or goes away
DOCUMENTS: dict[str, tuple[str, Any]] = {  # by name: what writes it, and its type
    "bench": ("lanelab bench NAME --json", list[Figure]),
    "claims": ("lanelab claims --json", ClaimsJson),
    "compare": ("lanelab compare --json", AgreementJson),
    "doctor": ("lanelab doctor --json", DoctorJson),
    "explain": ("lanelab explain --json", Explained),
    "export": ("lanelab export --format json", ExportJson),
    "hosts-check": ("lanelab hosts check --json", HostFindings),
    "link-list": ("lanelab link list --json", list[NamedLink]),
    "link-show": ("lanelab link show --json", ShownLink),
    "link-test": ("lanelab link test --json", TestedLink),
    "link-trace-list": ("lanelab link trace list --json", list[TraceFacts]),
    "link-trace-show": ("lanelab link trace show --json", WholeTrace),
    "packets": ("lanelab packets --json, without --request", list[RequestSummary]),
    "packets-load": ("lanelab packets --json, of a load of a server", FirstPackets),
    "packets-request": ("lanelab packets --request K --json", RequestJson),
    "plan": ("lanelab plan --json", PlanJson),
    "runs": ("lanelab runs --json", list[RunLine]),
    "show": ("lanelab show --json", ShowJson),
    "site-diff": ("lanelab site diff --json", Difference),
    "site-list": ("lanelab site list --json", list[SiteFacts]),
    "site-minify": ("lanelab site minify --json", MinifyReport),
    "site-show": ("lanelab site show --json", SiteDescription),
    "site-verify": ("lanelab site verify --json", VerifiedSiteJson),
    "study-compare": ("lanelab study compare --json", StudyComparisonJson),
    "study-list": ("lanelab study list --json", list[StudyLine | UnreadableStudy]),
    "study-matrix": ("lanelab study matrix --json", MatrixJson),
    "study-run": ("lanelab study show RUN --json", StandingJson),
    "study-show": ("lanelab study show --json", StudyJson),
    "trial": ("lanelab show --trial N --json", TrialRecord),
    "vm-status": ("lanelab vm status --json", MachinesStatus),
    "verify": ("lanelab verify --json", list[VerificationJson]),
}


def schemas() -> dict[str, Schema]:
    """Return every schema by the name of its document."""
    return {EVENT: _event(), **{name: _document(name) for name in DOCUMENTS}}


def _event() -> Schema:
    types = Types()
    kinds = [types.of(each) for each in by_kind(RUN_EVENTS)]
    title = "A line of lanelab run --json, and of the file of --events"
    return _whole(EVENT, events.VERSION, title, {"oneOf": kinds}, types)


def _document(name: str) -> Schema:
    title, hint = DOCUMENTS[name]
    types = Types()
    return _whole(name, VERSION, title, types.of(hint), types)


def _whole(name: str, version: int, title: str, schema: Schema, types: Types) -> Schema:
    head = {"$schema": DRAFT, "$id": f"urn:lanelab:{name}:{version}", "title": title}
    return {**head, **schema, "$defs": dict(sorted(types.definitions.items()))}


def files() -> dict[str, str]:
    """Return what each file in the folder should have."""
    return {f"{name}.schema.json": schema_text(each) for name, each in {**schemas(), **input_schemas()}.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file_name, text in files().items():
        (FOLDER / file_name).write_text(text, encoding="utf-8")
