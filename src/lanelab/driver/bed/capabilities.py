"""What this machine can do for beds. Each function returns None where it can, else what is in the way."""

from lanelab.driver.base.errors import LanelabError, NamespaceError, RouterError
from lanelab.driver.bed.remote import namespaces as spaces
from lanelab.driver.bed.remote.kernel_probe import refusal
from lanelab.driver.bed.remote.refusals import diagnose
from lanelab.driver.bed.routers import kernel, uml
from lanelab.driver.bed.routers.router import Router


def namespaces() -> NamespaceError | None:
    def attempt() -> None:
        try:
            spaces.mount("none", "/run", "tmpfs")
        except OSError as error:
            raise diagnose(error) from error

    why = refusal(attempt, spaces.CLONE_NEWNS | spaces.CLONE_NEWNET | spaces.CLONE_NEWPID)
    return NamespaceError(*why) if why else None


def uml_router() -> str | None:
    return uml.installed()


def kernel_router() -> str | None:
    """Tried in namespaces of a child process, as it may have to load modules."""

    def attempt() -> None:
        lacks = kernel.usable()
        if lacks:
            raise RouterError(lacks)

    # Not a process namespace as well: it would end with the first program that is tried in it.
    why = refusal(attempt, spaces.CLONE_NEWNS | spaces.CLONE_NEWNET)
    return str(LanelabError(*why)) if why else None


def router_for(kind: str) -> type[Router]:
    """The router that a bed here would have; where it could have none, the default one."""
    if kind == "kernel" or (kind == "auto" and uml.installed() and kernel_router() is None):
        return kernel.KernelRouter
    return uml.UmlRouter
