"""The registry of substrates: what a kind declares is all that others need of it."""

from dataclasses import dataclass

import pytest

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs.needs import MACHINES_OVER_SSH, programs
from lanelab.driver.bed import registry
from lanelab.driver.bed.netns.substrate import NetnsSubstrate
from lanelab.driver.bed.substrate import Given, NodeSettings, Option, SubstrateKind

PLACE = Option("place", "Where it is", ("these beds need a place", "Add --place"))


@dataclass(frozen=True, slots=True)
class Place(NodeSettings):
    at: str


class Elsewhere(SubstrateKind[Place]):
    name = "elsewhere"
    help = "somewhere else"
    nodes = Place
    options = (PLACE,)

    def settings(self, given: Given) -> Place:
        return Place(given["place"])

    def make(self, settings: Place) -> NetnsSubstrate:
        assert settings == Place("home")
        return NetnsSubstrate()


@pytest.fixture(autouse=True)
def _one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "KINDS", (*registry.KINDS, Elsewhere()))


def test_one_more_entry_is_all_that_a_substrate_needs() -> None:
    assert "elsewhere" in registry.names()
    assert PLACE in registry.options()
    made = BedOptions("elsewhere", {"place": "home"})
    assert BedOptions.from_json(made.to_json()) == made
    registry.kind_named(made.substrate).make(made.nodes())


def test_an_option_of_another_substrate_is_refused_and_named() -> None:
    with pytest.raises(InputError, match=r"^--place: a netns bed has no place\. Add --substrate elsewhere$"):
        registry.kind_meant("netns", {"place": "home"})


def test_an_option_that_is_missing_is_asked_for() -> None:
    with pytest.raises(InputError, match=r"^--substrate: these beds need a place\. Add --place$"):
        registry.kind_meant("elsewhere", {})


def test_a_substrate_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"no substrate 'nowhere'\. There is: netns, vagrant, ssh, elsewhere"):
        registry.kind_named("nowhere")


def test_what_this_machine_must_have_depends_on_where_the_nodes_are() -> None:
    of_nodes = programs("bed")
    assert BedOptions().needs(of_nodes) == of_nodes
    over_ssh = BedOptions("ssh", {"inventory": "machines.yml"})
    assert over_ssh.needs(of_nodes) == programs(*MACHINES_OVER_SSH)
    assert not over_ssh.traits.same_machine
