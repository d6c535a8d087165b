"""Variants of an experiment: the same sites, links and arms with other settings, chosen when a run begins. Pure.

A variant's settings are laid over those of the file as if they stood there, so that whatever is wrong with one is
reported at its own line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import yaml

from driver.experiment.keys import VARIANT, read_name
from model.errors import InputError
from model.settings.kinds import near_miss
from model.settings.source import Written

NodePair = tuple[yaml.Node, yaml.Node]


def variants_of(entries: Mapping[str, Written]) -> dict[str, dict[str, Written]]:
    """Their names with what each has; the first is the one that is run unless another is asked for."""
    if "variants" not in entries:
        return {}
    found = {}
    for name, entry in entries["variants"].entries().items():
        with entry.placed({}):
            read_name(name)
        found[name] = VARIANT.entries(entry)
        VARIANT.values_of(found[name])
    if not found:
        raise entries["variants"].error("there are no variants", "Write at least one, or leave variants out")
    return found


def chosen_variant(entries: Mapping[str, Written], wanted: str | None) -> str:
    """The variant that is run; "" where there are none."""
    names = list(variants_of(entries))
    if wanted is None:
        return names[0] if names else ""
    if wanted not in names:
        known = f"There are {', '.join(names)}" if names else "The file has no variants"
        raise InputError(f"there is no variant {wanted!r}", f"{near_miss(wanted, names)}{known}", key="--variant")
    return wanted


def overlaid(entries: Mapping[str, Written], variant: str) -> dict[str, Written]:
    """The entries of the file with the variant's settings laid over them."""
    if not variant:
        return dict(entries)
    over, merged = variants_of(entries)[variant], dict(entries)
    if "defaults" in over:
        merged["defaults"] = _over(entries["defaults"], over["defaults"]) if "defaults" in entries else over["defaults"]
    if "links" in over and "links" in entries:
        merged["links"] = _over_each(entries["links"], over["links"])
    if "arms" in over and "arms" in entries:
        merged["arms"] = _over_arms(entries["arms"], over["arms"])
    return merged


def _over(below: Written, above: Written) -> Written:
    """A mapping with the settings of another over its own."""
    if below.absent:
        return above
    others = above.entries()
    kept = [pair for name, pair in _pairs(below) if name not in others]
    return _mapping(below, [*kept, *(pair for _, pair in _pairs(above))])


def _pairs(written: Written) -> list[tuple[str, NodePair]]:
    """Each key with its nodes."""
    names = written.entries()  # raises unless it is a mapping
    return list(zip(names, written.node.value, strict=True))


def _mapping(like: Written, pairs: list[NodePair]) -> Written:
    node = yaml.MappingNode(like.node.tag, pairs, like.node.start_mark, like.node.end_mark)
    return replace(like, node=node)


def _over_each(below: Written, above: Written) -> Written:
    """The same for each mapping of a list."""
    if not below.is_list:
        return _over(below, above)
    nodes = [_over(each, above).node for each in below.elements()]
    node = yaml.SequenceNode(below.node.tag, nodes, below.node.start_mark, below.node.end_mark)
    return replace(below, node=node)


def _over_arms(below: Written, above: Written) -> Written:
    """The arms of the file, those that the variant names with its settings over their own."""
    own, others = below.entries(), above.entries()
    for name, entry in others.items():
        if name not in own:
            raise entry.error(f"there is no arm {name!r}", f"{near_miss(name, own)}There are {', '.join(own)}")
    pairs = [
        (key, _over(own[name], others[name]).node if name in others else node) for name, (key, node) in _pairs(below)
    ]
    return _mapping(below, pairs)
