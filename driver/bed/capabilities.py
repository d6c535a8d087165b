"""What this machine can do for beds: each None when it can, else what is in the way. For `lanelab doctor`."""

from __future__ import annotations

import os
from collections.abc import Callable

from driver.bed.remote import namespaces as spaces
from driver.bed.remote.refusals import diagnose
from driver.bed.routers import kernel, uml
from driver.bed.routers.router import Router
from model.errors import LanelabError, NamespaceError, RouterError


def namespaces() -> NamespaceError | None:
    """Tried in a child process."""

    def attempt() -> None:
        spaces.enter_user_namespace(spaces.CLONE_NEWNS | spaces.CLONE_NEWNET | spaces.CLONE_NEWPID)
        spaces.mount("none", "/run", "tmpfs")

    told = _in_child(attempt)
    if told is None:
        return None
    what, _, remedy = told.partition("\0")
    return NamespaceError(what, remedy)


def uml_router() -> str | None:
    return uml.installed()


def kernel_router() -> str | None:
    """Tried in namespaces of a child process, as it may have to load modules."""

    def attempt() -> None:
        # Not a process namespace as well: it would end with the first program that is tried in it.
        spaces.enter_user_namespace(spaces.CLONE_NEWNS | spaces.CLONE_NEWNET)
        lacks = kernel.usable()
        if lacks:
            raise RouterError(lacks)

    told = _in_child(attempt)
    return told.rstrip("\0").replace("\0", ". ") if told else None


def router_for(kind: str) -> type[Router]:
    """The router that a bed here would have; where it could have none, the default one."""
    if kind == "kernel" or (kind == "auto" and uml.installed() and kernel_router() is None):
        return kernel.KernelRouter
    return uml.UmlRouter


def _in_child(attempt: Callable[[], None]) -> str | None:
    """None when `attempt` works in a child process, whose namespaces end with it; else what and remedy, a 0 between."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(ours)
            attempt()
            status = 0
        except LanelabError as error:
            os.write(theirs, f"{error.what}\0{error.remedy}".encode())
        except OSError as error:
            refusal = diagnose(error)
            os.write(theirs, f"{refusal.what}\0{refusal.remedy}".encode())
        finally:
            os._exit(status)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        told = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return None if status == 0 else told or "the attempt died without a word\0"
