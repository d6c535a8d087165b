"""What makes a trial another trial changes its key, and nothing else does."""

import ast
import subprocess
from pathlib import Path

import pytest

from lanelab.driver.base.paths import PACKAGE
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run import versions
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.fact_operations import BedReport, HostReport
from lanelab.driver.run.measuring_code import (
    PARTS,
    digest_of_files,
    measuring_digest,
    measuring_files,
    takes_part,
)
from lanelab.driver.run.provenance import commit_facts
from lanelab.driver.run.served_sites import ServedSites
from lanelab.driver.run.trial_keys import AskedKeys, asked_for, digest_of
from lanelab.driver.site.load import load_site
from tests.kit.experiments import read

PLAIN = """\
name: first
sites: dummy
links: {rate: 10mbit, rtt: 20ms}
arms: {one: {protocol: h2, tls: 1.3}}
trials: 5
"""
GOLDEN = "8e51bfd0ffacf29c227ae2f5e135b2c76babd27a1b503a97ec9ed37732483bae"
# What it changes, and what it does not.
OTHER_TRIALS = {
    "the link": ("rtt: 20ms", "rtt: 21ms"),
    "one direction of the link": ("rtt: 20ms", "rtt: 20ms, loss_up: 1%"),
    "the protocol": ("protocol: h2, tls: 1.3", "tls: 1.3"),
    "the server": ("protocol: h2,", "protocol: h2, server: nginx,"),
    "what the server is told": ("protocol: h2,", "protocol: h2, server_directives: ListenBacklog 400,"),
    "a setting that came later": ("protocol: h2,", "protocol: h2, tls_key_share: x25519,"),
    "the site as it is served": ("protocol: h2,", "protocol: h2, minify: core-2012,"),
    "the time-out": ("trials: 5", "trials: 5\ntimeout: 50s"),
    "what is missing": ("trials: 5", "trials: 5\nmissing: 404"),
    "what a trial may lack": ("trials: 5", "trials: 5\ntolerances: {missing: 1}"),
    "a recorder": ("trials: 5", "trials: 5\nscreenshot: true"),
    "an option of a recorder": ("trials: 5", "trials: 5\ncapture: {snaplen: 200B}"),
}
SAME_TRIALS = {
    "names": ("name: first", "name: another\ndescription: of another day"),
    "the name of an arm": ("one:", "two:"),
    "how many": ("trials: 5", "trials: 50\nretries: 1\nbeds: 3"),
    "the order and the seed": ("trials: 5", "trials: 5\norder: random\nseed: 3"),
    "another cell": ("rtt: 20ms}", "rtt: [20ms, 50ms]}"),
    "a value that is the default": ("protocol: h2,", "protocol: h2, keepalive: true, server: apache,"),
    "one distance for all, said or not": ("rtt: 20ms}", "rtt: 20ms, distances: none}"),
    "how it is written": ("rate: 10mbit", "rate: 10000kbit"),
}


def key_of(text: str, *, accept_links: bool = False) -> str:
    experiment = parse_experiment(text, "exp.yaml", ["dummy"])
    sites = ServedSites.of(experiment, {"dummy": load_site("dummy")})
    return AskedKeys(experiment, sites, accept_links=accept_links).of(experiment.cells[0])


def changed(change: tuple[str, str]) -> str:
    before, after = change
    assert before in PLAIN
    return PLAIN.replace(before, after)


@pytest.mark.parametrize("what", OTHER_TRIALS)
def test_what_makes_it_another_trial_changes_the_key(what: str) -> None:
    assert key_of(changed(OTHER_TRIALS[what])) != key_of(PLAIN)


@pytest.mark.parametrize("what", SAME_TRIALS)
def test_what_leaves_the_trial_as_it_is_leaves_the_key(what: str) -> None:
    assert key_of(changed(SAME_TRIALS[what])) == key_of(PLAIN)


def test_what_third_parties_do_makes_another_trial() -> None:
    """Blocked, dead, slow, or answering otherwise."""
    page = load_site("dummy")
    other = next(each.url for each in page.objects if each.path != page.entry_path)
    plain = PLAIN + "timeout: 200s\n" if "timeout" not in PLAIN else PLAIN
    keys = {key_of(plain)}
    for settings in (f"block: {other}", f"answer_delay: {{{other}: 1s}}", f"answer: {{{other}: 503}}"):
        keys.add(key_of(plain.replace("protocol: h2,", f"protocol: h2, {settings},")))
    assert len(keys) == 4


def test_links_that_are_accepted_as_they_are_make_other_trials() -> None:
    assert key_of(PLAIN, accept_links=True) != key_of(PLAIN)


def test_another_content_of_the_site_makes_another_trial() -> None:
    cell = read(PLAIN).cells[0]
    one, other = (asked_for(read(PLAIN), cell, site, accept_links=False) for site in ("one", "other"))
    assert digest_of(one) != digest_of(other)


def test_the_key_of_a_known_trial_stays_what_it_is() -> None:
    """A change of this loses every user's store of results: only on purpose."""
    cell = read(PLAIN).cells[0]
    assert digest_of(asked_for(read(PLAIN), cell, "the digest of a site", accept_links=False)) == GOLDEN


def test_the_order_of_a_mapping_is_no_part_of_its_digest() -> None:
    assert digest_of({"a": 1, "b": {"c": 2, "d": 3}}) == digest_of({"b": {"d": 3, "c": 2}, "a": 1})


# --- versions


def test_programs_are_read_with_what_they_say_and_their_size() -> None:
    text = "chromium|296700760|Chromium 156.0.8078.79 \numl-modules|4096|\nlibraries||OpenSSL 3.0 glibc 2.36\nnoise\n"
    assert versions.looked(text) == {
        "chromium": "Chromium 156.0.8078.79 (296700760 bytes)",
        "uml-modules": "(4096 bytes)",
        "libraries": "OpenSSL 3.0 glibc 2.36",
    }


HOST: HostReport = {
    "kernel": "6.12", "programs": {}, "sysctls": {"net.ipv4.tcp_sack": "1"}, "offloads": {"tx": "off"}, "routes": [],
}  # fmt: skip
FACTS: BedReport = {
    "client": HOST,
    "server": HOST,
    "router": {"kind": "uml", "kernel": "6.1", "programs": {"tc": "tc 6.1"}, "compensation_us": 0, "proven_bps": 1},
}


def test_a_kernel_and_its_settings_are_among_the_versions() -> None:
    before = versions.of_facts("netns", FACTS)
    other_kernel = versions.of_facts("netns", {**FACTS, "server": {**HOST, "kernel": "6.13"}})
    other_settings = versions.of_facts("netns", {**FACTS, "client": {**HOST, "sysctls": {}}})
    assert {name for name in before if before[name] != other_kernel[name]} == {"server kernel"}
    assert {name for name in before if before[name] != other_settings[name]} == {"client network settings"}


# --- the code that measures

# What files that take part import of those that do not: where things are stored and asked for.
IMPORTED = {
    "driver/experiment/model.py", "driver/base/programs/ansible.py", "driver/base/programs/find_program.py",
    "driver/base/programs/finding.py", "driver/base/programs/needs.py", "driver/run/built_programs.py",
    "driver/run/events.py", "driver/run/open_beds.py", "driver/run/start.py", "driver/run/folder/content.py",
    "driver/run/folder/store.py", "driver/run/trial_keys.py", "driver/run/versions.py",
    "driver/experiment/schedule/agenda.py", "driver/experiment/schedule/order.py", "driver/base/configuration.py",
    "driver/run/machines.py", "driver/base/paths.py", "driver/base/writing.py", "driver/site/minify/minify_options.py",
    "driver/site/prepare/ages.py", "driver/site/prepare/variant.py", "driver/bed/vagrant/substrate.py",
}  # fmt: skip


def test_every_file_is_among_what_measures_or_is_left_out_on_purpose() -> None:
    of_package = (path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(PACKAGE / "data"))  # of a wheel
    for path in of_package:
        takes_part(path.relative_to(PACKAGE).as_posix())  # KeyError: name the new room in driver/run/measuring_code.py


def test_every_part_that_is_named_is_there() -> None:
    assert [part for part in PARTS if not (PACKAGE / part).exists()] == []


def test_what_measures_imports_nothing_that_is_left_out_but_what_is_known_here() -> None:
    """Something new in this set may have a part in a trial: then it belongs to the code that measures."""
    found = set()
    for name in measuring_files():
        if name.endswith(".py"):
            found |= {each for each in imported_by(name) if not takes_part(each)}
    assert found == IMPORTED


def imported_by(name: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / name).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == PACKAGE.name:
            place = node.module.partition(".")[2].replace(".", "/")
            for each in node.names:
                places = (f"{place}/{each.name}", place)
                files = [file for path in places for file in (f"{path}.py", f"{path}/__init__.py")]
                found.add(next(file for file in files if (PACKAGE / file).exists()))
    return found


def test_a_changed_file_changes_the_digest_and_a_moved_project_does_not(tmp_path: Path) -> None:
    names = ["driver/base/units.py", "driver/record/record.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((PACKAGE / name).read_bytes())
    assert digest_of_files(tmp_path, names) == digest_of_files(PACKAGE, names)
    (tmp_path / names[0]).write_text("changed")
    assert digest_of_files(tmp_path, names) != digest_of_files(PACKAGE, names)
    assert len(measuring_digest()) == 64


def test_a_file_that_git_does_not_track_measures_as_the_others_do(tmp_path: Path) -> None:
    """Python imports it all the same. What lies elsewhere, or is no code, changes nothing."""
    sources = tmp_path / "src" / "lanelab" / "driver" / "base"
    sources.mkdir(parents=True)
    (sources / "units.py").write_text("tracked")
    in_folder = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "words"]):
        subprocess.run([*in_folder, *words], check=True)
    package = tmp_path / "src" / "lanelab"
    assert (measuring_files(package), commit_facts(tmp_path)["changed_files"]) == (["driver/base/units.py"], "0")
    (sources / "stray.py").write_text("new")
    (tmp_path / "notes.py").write_text("new")
    (tmp_path / "src" / "notes.txt").write_text("new")
    both = ["driver/base/stray.py", "driver/base/units.py"]
    assert (measuring_files(package), commit_facts(tmp_path)["changed_files"]) == (both, "1")


def test_the_versions_before_there_is_a_bed_are_text() -> None:
    known = versions.known_here(Programs())
    assert known["measuring code"] == measuring_digest()
    assert all(isinstance(value, str) and value for value in known.values())
