"""What the environment says to lanelab: read once, when a program starts, and held here."""

import os
import pwd
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.base.errors import InputError

PACKAGE = Path(__file__).resolve().parents[2]  # lanelab
SOURCES = PACKAGE.parent  # what has to be on Python's path
# None: lanelab is installed, and what a checkout has beside its sources is in the package.
CHECKOUT = SOURCES.parent if SOURCES.name == "src" and (SOURCES.parent / "pyproject.toml").is_file() else None
PROJECT = CHECKOUT or PACKAGE / "data"
SITES = PROJECT / "sites-archive"
TIMEOUTS = "LANELAB_PATIENCE"
LARGEST_FACTOR = 100.0
FACTOR_OF_EMULATED = 6.0  # an emulated processor needs a minute for what a real one does in some seconds


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings of the whole program. Those of a run belong into its experiment file."""

    build: Path  # LANELAB_BUILD: where lanelab writes. The launcher sets it, since a checkout may be read-only
    sites: Path  # LANELAB_SITES: the archive of sites, where new ones go
    timeouts: float | None  # LANELAB_PATIENCE: times every time limit of ours; None: the user sets none
    may_install: bool  # LANELAB_NO_INSTALL is not set
    shows_traces: bool  # LANELAB_DEBUG is set
    shipped_sites: Path | None = None  # of an installed lanelab: what is not in the user's archive is looked for here

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Configuration":
        """Raises InputError, which names the variable."""
        factor, named_sites = environment.get(TIMEOUTS), environment.get("LANELAB_SITES")
        return cls(
            build=Path(environment.get("LANELAB_BUILD") or _build_folder(environment)),
            sites=Path(named_sites or (SITES if CHECKOUT else _users_sites(environment))),
            timeouts=_factor(factor) if factor else None,
            may_install=not environment.get("LANELAB_NO_INSTALL"),
            shows_traces=bool(environment.get("LANELAB_DEBUG")),
            shipped_sites=None if named_sites or CHECKOUT else SITES,
        )

    @property
    def timeout_factor(self) -> float:
        return self.timeouts or 1.0

    def for_emulated_processors(self) -> "Configuration":
        """With longer time limits; a factor that the user has set stays."""
        return replace(self, timeouts=self.timeouts or FACTOR_OF_EMULATED)

    def environment(self) -> dict[str, str]:
        """The variables that a child process needs besides its parent's own, to have the same time limits."""
        return {TIMEOUTS: f"{self.timeouts:g}"} if self.timeouts else {}


def _build_folder(environment: Mapping[str, str]) -> Path:
    if CHECKOUT:
        return CHECKOUT / "build"
    return user_folder(environment, "XDG_CACHE_HOME", ".cache")


def _users_sites(environment: Mapping[str, str]) -> Path:
    return user_folder(environment, "XDG_DATA_HOME", ".local/share") / "sites"


def user_folder(environment: Mapping[str, str], variable: str, usual: str) -> Path:
    """Return lanelab's folder below one of the user's own, as the XDG specification has them."""
    named = Path(environment.get(variable, ""))  # which counts only where it is absolute
    return (named if named.is_absolute() else _home(environment, variable) / usual) / "lanelab"


def _home(environment: Mapping[str, str], instead: str) -> Path:
    """Return the user's home folder: what HOME says, or without it the system's list of users."""
    named = environment.get("HOME")
    try:
        home = Path(named or pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        home = Path()
    if not home.is_absolute():
        what = f"'{named}' is no folder's whole path" if named else "not set, and the system knows no home of this user"
        raise InputError(what, f"Set it, or {instead}", key="HOME")
    return home


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 1 <= factor <= LARGEST_FACTOR:  # NaN is not in there either
        raise InputError(f"'{text}' is not how often", f"Set a number from 1 to {LARGEST_FACTOR:.0f}", key=TIMEOUTS)
    return factor


_held: Configuration | None = None


def current() -> Configuration:
    """Return the configuration of this process. Programs call `load` first; for a library's user the first call reads
    it."""
    return _held or load()


def load() -> Configuration:
    """Read the environment. Raises InputError."""
    configuration = Configuration.from_environment(os.environ)
    require_trusted(configuration.build)
    return hold(configuration)


def require_trusted(build: Path) -> None:
    """Raises InputError where somebody else's folder is one that everybody may write to: programs in it are run."""
    try:
        status = build.stat()
    except OSError:  # who writes there says why it cannot be
        return
    if status.st_uid != os.getuid() and status.st_mode & stat.S_IWOTH:
        what = f"{build} is somebody else's, and everybody may write to it: programs in it are run"
        raise InputError(what, "Name a folder of your own", key="LANELAB_BUILD")


def hold(configuration: Configuration) -> Configuration:
    """Use this configuration from now on, in the whole process."""
    global _held  # noqa: PLW0603 - the one place where it is held
    _held = configuration
    return configuration
