"""Every error that a user can meet, drawn here once.

    LanelabError
    ├── InputError            something that the user wrote is wrong              exit 2
    │   └── ArgumentError     an argument of a call, or an option
    ├── CaptureError          a packet capture cannot be read or written          exit 1
    ├── StoreError            the run folder could not be read or written         exit 1
    │   ├── ChangedError      it does not hold what was stored there
    │   ├── DiskFull          the disk has no room for it
    │   └── MachineBusy       something else is measured on this machine
    ├── RecordError           the record of a trial lacks a key, or has a wrong one exit 1
    ├── Interrupted           the user stopped a run                              exit 130
    ├── BuildError            a program of ours could not be built                exit 1
    ├── ArtifactError         an artifact of a study is damaged, or is not safe        exit 1
    ├── RecordingError        a page could not be recorded                        exit 1
    ├── VmError               a virtual machine could not be had, or failed       exit 1
    ├── ClusterError          a sweep's scheduler or workers could not be had     exit 1
    │   ├── ClusterAway       not now: that passes by itself, or when the scheduler is up again
    │   └── PackError         what came from another machine is not what was sent
    └── BedError              the bed could not be made, or failed                exit 1
        ├── NamespaceError    this machine does not let us make namespaces
        ├── MissingProgram    a program that a node needs is not installed
        ├── RouterError       the router did not boot, or refused a link
        ├── NodeError         a node could not do what was asked
        │   └── CommandFailed a command on a node ended with a status other than 0
        ├── ServerError       a server in the server node did not start, or failed
        ├── GatewayError      the gateway in the client node did not start, or failed
        ├── FetcherError      the fetcher in the client node did not start, or failed
        ├── HostError         a machine that ssh reaches cannot be a node, or cannot be reached
        │   └── HostAway      not now: that passes by itself, or when the machine is up again
        ├── BedLost           the bed process died
        └── LinkError         the link is not what was asked for
    KeyboardInterrupt
    └── RunInterrupted        the same after Ctrl-C in a program; a command has Interrupted

Each says what was attempted, with which input, and what to do next. Errors of other libraries are translated
where they happen.
"""

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INCOMPLETE = 3  # a run ended, and a cell has fewer trials that count than asked for
EXIT_DOES_NOT_HOLD = 4  # a claim does not hold, or runs differ by more than they may
EXIT_INTERRUPTED = 130


class LanelabError(Exception):
    """A failure that a user reads in one line: what went wrong, then what to do next."""

    exit_status = EXIT_FAILED

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}. {self.remedy}" if self.remedy else self.what


class InputError(LanelabError):
    """Something that the user wrote is wrong; `key` names the setting, `place` the file and the line that the setting
    leads to."""

    exit_status = EXIT_BAD_INPUT

    def __init__(self, what: str, remedy: str = "", *, key: str = "", place: str = "") -> None:
        super().__init__(what, remedy)
        self.key = key
        self.place = place

    def __str__(self) -> str:
        return ": ".join(part for part in (self.key, self.place, super().__str__()) if part)


class ArgumentError(InputError):
    """An argument of a call is wrong, and `key` is its name. On a command line that is an option: --KEY."""


class StoreError(LanelabError):
    """The run folder could not be read or written; what it holds is intact."""


class ChangedError(StoreError):
    """The run folder does not hold what was stored there: something was changed, damaged or removed since."""


class DiskFull(StoreError):
    """The disk has no room for what was to be written."""


class MachineBusy(StoreError):
    """Something else is measured on this machine: both would be disturbed."""


class RecordError(LanelabError):
    """The record of a trial is not as it is defined; `key` is the path to what is missing, unknown or of another
    type."""

    def __init__(self, what: str, remedy: str = "", *, key: str = "") -> None:
        super().__init__(what, remedy)
        self.key = key


class Interrupted(LanelabError):
    """The user stopped a run; what was finished is stored."""

    exit_status = EXIT_INTERRUPTED


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run of a program; what was finished is stored. No LanelabError: who handles those in a loop does
    not mean to go on after Ctrl-C."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}. {self.remedy}" if self.remedy else self.what


def interruption(error: BaseException, what: str, remedy: str) -> Interrupted | RunInterrupted:
    """Return an error of the same kind as what ended a run: that it was asked to stop, or Ctrl-C."""
    return (RunInterrupted if isinstance(error, KeyboardInterrupt) else Interrupted)(what, remedy)


class CaptureError(LanelabError):
    """A packet capture cannot be read or written."""


class BuildError(LanelabError):
    """A program that lanelab builds, or what that takes, could not be had; `output`: the last that was said."""

    def __init__(self, what: str, remedy: str = "", *, output: str = "") -> None:
        super().__init__(what, remedy)
        self.output = output

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.output}" if self.output else super().__str__()


class ArtifactError(LanelabError):
    """The archive of a study's artifact is damaged, was changed, or is not safe to unpack."""


class RecordingError(LanelabError):
    """A page could not be recorded: it did not come, or what came is no page."""


class VmError(LanelabError):
    """The virtual machines, or what runs them, could not be had; `output`: the last that was said."""

    def __init__(self, what: str, remedy: str = "", *, output: str = "") -> None:
        super().__init__(what, remedy)
        self.output = output

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.output}" if self.output else super().__str__()


class ClusterError(LanelabError):
    """The scheduler of a sweep, or its workers, could not be had, or failed."""


class ClusterAway(ClusterError):
    """A scheduler does not answer: it may be there again later."""


class PackError(ClusterError):
    """What came from another machine is not what was sent."""


class BedError(LanelabError):
    """The bed could not be made, or failed while in use."""


class NamespaceError(BedError):
    """This machine does not let an ordinary user make the namespaces that a bed is made of."""


class MissingProgram(BedError):
    """A program that a node needs is not installed."""


class RouterError(BedError):
    """The router did not boot, or refused a link."""


class NodeError(BedError):
    """A node could not do what was asked of it."""


class CommandFailed(NodeError):
    """A command on a node ended with a status other than 0."""

    def __init__(self, what: str, remedy: str = "", *, status: int = 1) -> None:
        super().__init__(what, remedy)
        self.status = status


class ServerError(BedError):
    """A server in the server node did not start, or failed."""


class GatewayError(BedError):
    """The gateway in the client node did not start, or failed."""


class FetcherError(BedError):
    """The fetcher in the client node did not start, or failed."""


class HostError(BedError):
    """A machine that an inventory names cannot be reached, or cannot be a node as it is."""


class HostAway(HostError):
    """A machine does not answer, another bed uses it, or its cable carries nothing: it may be fit again by itself."""


class BedLost(BedError):
    """The bed process died; everything that it had made went with it."""


class LinkError(BedError):
    """The link that was measured is not the link that was asked for."""
