"""Beds whose nodes are on three machines that ssh reaches: real sshd, real namespaces, the real thing in between."""

import ast
from pathlib import Path

import pytest

from tests.kit.inside import results

from .ssh_machines import Machines, why_not

pytestmark = [pytest.mark.skipif(bool(why_not()), reason=why_not() or "-"), pytest.mark.measures]  # one check does
CHECKS = [
    each.name
    for each in ast.parse(Path(__file__).with_name("ssh_checks.py").read_text()).body
    if isinstance(each, ast.FunctionDef) and ast.unparse(each.returns or each) == "None"  # others help them
]


@pytest.fixture(scope="module")
def found(machines: Machines, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("bed")
    return results("tests.bed.ssh_checks", folder, through=machines.inside(), hosts=machines.hosts())


@pytest.mark.parametrize("check", CHECKS)
def test_over_ssh(found: dict[str, str], check: str) -> None:
    assert found[check] == ""
