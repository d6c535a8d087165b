"""What this machine can do for beds: each None when it can, else what is in the way. For `lanelab doctor`."""

from __future__ import annotations

import os
from collections.abc import Callable

from driver.bed import kernel_router as kernel
from driver.bed import namespaces as spaces
from driver.bed import uml
from driver.bed.refusals import diagnose
from driver.bed.router import Router
from driver.errors import LanelabError, NamespaceError


def namespaces() -> NamespaceError | None:
    """Tried in a child process."""
    told = _in_child(_enter)
    if told is None:
        return None
    what, _, remedy = told.partition("\0")
    return NamespaceError(what, remedy)


def uml_router() -> str | None:
    return uml.installed()


def kernel_router() -> str | None:
    """Tried in namespaces of a child process, as it may have to load modules."""

    def attempt() -> str | None:
        return _enter() or kernel.usable()

    told = _in_child(attempt)
    return told.replace("\0", ". ") if told else None


def router_for(kind: str) -> type[Router]:
    """The router that a bed here would have; where it could have none, the default one."""
    if kind == "kernel" or (kind == "auto" and uml.installed() and kernel_router() is None):
        return kernel.KernelRouter
    return uml.UmlRouter


def _enter() -> str | None:
    try:
        spaces.enter_user_namespace(spaces.CLONE_NEWNS | spaces.CLONE_NEWNET | spaces.CLONE_NEWPID)
        spaces.mount("none", "/run", "tmpfs")
    except NamespaceError as error:
        return f"{error.what}\0{error.remedy}"
    except OSError as error:
        refusal = diagnose(error)
        return f"{refusal.what}\0{refusal.remedy}"
    return None


def _in_child(attempt: Callable[[], str | None]) -> str | None:
    """What `attempt` says, run in a child process whose namespaces end with it."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            os.write(theirs, (attempt() or "").encode())
        except LanelabError as error:
            os.write(theirs, str(error).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(child, 0)
    return told or None
