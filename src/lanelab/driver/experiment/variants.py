"""Variants of an experiment: the same sites, links and arms with other settings, chosen when a run begins. Pure.

A variant's settings are laid over those of the file as if they stood there, so that whatever is wrong with one is
reported at its own line.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import yaml

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import PlacedError, Written
from lanelab.driver.experiment.keys import VARIANT, read_name

NodePair = tuple[yaml.Node, yaml.Node]
T = TypeVar("T")


def variants_of(entries: Mapping[str, Written]) -> dict[str, dict[str, Written]]:
    """Return the variants by name; the first is run unless another is asked for."""
    return read_variants(entries, _read_variant)


def read_variants(entries: Mapping[str, Written], read: Callable[[Written], T]) -> dict[str, T]:
    """Return what `read` makes of each variant, by its name."""
    if "variants" not in entries:
        return {}
    variants = {}
    for name, entry in entries["variants"].entries().items():
        with entry.placed({}):
            read_name(name)
        variants[name] = read(entry)
    if not variants:
        raise entries["variants"].error("there are no variants", "Write at least one, or leave variants out")
    return variants


def _read_variant(entry: Written) -> dict[str, Written]:
    variant = VARIANT.entries(entry)
    VARIANT.values_of(variant)
    _refuse_grids(variant)
    return variant


def _refuse_grids(variant: Mapping[str, Written]) -> None:
    """A variant has the links of the file, so it can neither name them nor make more of them."""
    for name, entry in variant["links"].entries().items() if "links" in variant else ():
        if name == "label":
            raise entry.error("all links would have this one label", "Leave it out")
        if entry.is_list:
            raise entry.error("a list would make more links than the file has", "Write one value")


def error_in_variant(error: InputError, variants: Written, name: str) -> InputError:
    """Return the error with the variant that has it, where its line is one that is right without the variant."""
    entry = variants.entries()[name]
    place = re.match(rf"{re.escape(entry.source)}:([0-9]+)", error.key)
    if place and entry.line <= int(place[1]) <= entry.node.end_mark.line + 1:
        return error
    what = f"{error.what} (with the variant {name} on line {entry.line})"
    return PlacedError(what, error.remedy, key=error.key, place=error.place)


def chosen_variant(entries: Mapping[str, Written], wanted: str | None) -> str:
    """Return the variant that is run; "" where there are none."""
    names = list(variants_of(entries))
    if wanted is None:
        return names[0] if names else ""
    if wanted not in names:
        known = f"There are {', '.join(names)}" if names else "The file has no variants"
        raise InputError(f"there is no variant {wanted!r}", f"{near_miss(wanted, names)}{known}", key="--variant")
    return wanted


def overlaid(entries: Mapping[str, Written], variant: str) -> dict[str, Written]:
    """Return the entries of the file with the variant's settings laid over them."""
    if not variant:
        return dict(entries)
    over, merged = variants_of(entries)[variant], dict(entries)
    if "defaults" in over:
        merged["defaults"] = _over(entries["defaults"], over["defaults"]) if "defaults" in entries else over["defaults"]
    if "links" in over and "links" in entries:
        merged["links"] = _each(entries["links"], lambda grid: _over_grid(grid, over["links"]))
    if "links" in over and "cells" in entries:
        merged["cells"] = _over_cells(entries["cells"], over["links"])
    if "arms" in over and "arms" in entries:
        merged["arms"] = _over_arms(entries["arms"], over["arms"])
    return merged


def _over(below: Written, above: Written) -> Written:
    """Return a mapping with the settings of another over its own."""
    if below.absent:
        return above
    others = above.entries()
    kept = [pair for name, pair in _pairs(below) if name not in others]
    return _mapping(below, [*kept, *(pair for _, pair in _pairs(above))])


def _pairs(written: Written) -> list[tuple[str, NodePair]]:
    """Return each key with its nodes."""
    names = written.entries()  # raises unless it is a mapping
    return list(zip(names, written.node.value, strict=True))


def _mapping(like: Written, pairs: list[NodePair]) -> Written:
    node = yaml.MappingNode(like.node.tag, pairs, like.node.start_mark, like.node.end_mark)
    return replace(like, node=node)


def _over_grid(grid: Written, above: Written) -> Written:
    """A setting that the links differ in stays as it is: with one value for all of them, links would be lost."""
    if not grid.is_mapping and not grid.absent:  # the name of a profile
        marks = grid.node.start_mark, grid.node.end_mark
        grid = _mapping(grid, [(yaml.ScalarNode("tag:yaml.org,2002:str", "profile", *marks), grid.node)])
    for name, entry in above.entries().items():
        below = grid.entries().get(name)
        if below is not None and below.is_list and len(below.elements()) > 1:
            what = f"the links on line {grid.line} differ in {name}, and all would have this one"
            raise entry.error(what, "Leave it out")
    return _over(grid, above)


def _over_cells(cells: Written, links: Written) -> Written:
    """Cells may have links of their own, which are mappings; a label is one of the file's links."""
    return _each(cells, lambda cell: _with_links(cell, links))


def _with_links(cell: Written, links: Written) -> Written:
    entries = cell.entries()
    if "link" not in entries:
        return cell
    changed = _each(entries["link"], lambda link: _over_grid(link, links) if link.is_mapping else link)
    return _mapping(cell, [(key, changed.node if name == "link" else node) for name, (key, node) in _pairs(cell)])


def _each(written: Written, change: Callable[[Written], Written]) -> Written:
    """Apply a function to every element of a list, or to a value that stands alone."""
    if not written.is_list:
        return change(written)
    nodes = [change(element).node for element in written.elements()]
    return replace(
        written, node=yaml.SequenceNode(written.node.tag, nodes, written.node.start_mark, written.node.end_mark)
    )


def _over_arms(below: Written, above: Written) -> Written:
    """Return the arms of the file, those that the variant names with its settings over their own."""
    lower, others = below.entries(), above.entries()
    for name, entry in others.items():
        if name not in lower:
            raise entry.error(f"there is no arm {name!r}", f"{near_miss(name, lower)}There are {', '.join(lower)}")
    pairs = [
        (key, _over(lower[name], others[name]).node if name in others else node) for name, (key, node) in _pairs(below)
    ]
    return _mapping(below, pairs)
