"""Why ssh did not bring us to a machine: what it says, what that means, and what to do about it."""

import contextlib
import subprocess
from collections.abc import Sequence

from lanelab.driver.base.errors import HostAway, HostError
from lanelab.driver.bed.ssh.hosts import ARGUMENTS, KEY_FILE, SshHost

Refusals = tuple[tuple[str, tuple[str, str]], ...]
KEYGEN_WITHIN_S = 10
# In remedies: the command that a user would log in with.
BY_HAND = "BY_HAND"
_CHANGED = "Compare the keys, then mend known_hosts: ssh-keygen -R, ssh-keyscan"
_UNKNOWN = f"Log in once, and compare the key that is shown: {BY_HAND}"
_OPTIONS = ("ssh does not take its options", f"Mend {' or '.join(ARGUMENTS)}")
_NO_PYTHON = ("it has no such program as its Python", "Install Python 3.9, or set ansible_python_interpreter")
_NO_WAY = ("there is no way to it", "Is it up, and the address right?")
_NO_KEY = "Permission denied ("
# In this order: of a key that has changed ssh says that it could not verify it, too.
REFUSALS: Refusals = (
    ("HOST IDENTIFICATION HAS CHANGED", ("its host key has changed", _CHANGED)),
    ("REVOKED HOST KEY", ("its host key is revoked in your known_hosts", _CHANGED)),
    ("Host key verification failed", ("its host key is not known here yet", _UNKNOWN)),
    (_NO_KEY, ("it takes none of the keys that were offered", f"Set ansible_user and {KEY_FILE}")),
    ("Could not resolve hostname", ("its name is not known", "Set ansible_host")),
    ("command-line", _OPTIONS),
    ("unknown option --", _OPTIONS),
)
# What passes: machines start, cables are put back.
AWAY: Refusals = (
    ("Connection refused", ("nothing listens there", "Is sshd running, and ansible_port right?")),
    ("timed out", ("it does not answer", "Is it up, and the address right?")),
    ("not responding", ("it does not answer", "Is it up, and the address right?")),
    ("No route to host", _NO_WAY),
    ("Network is unreachable", _NO_WAY),
    ("Connection reset", _NO_WAY),
    ("Connection closed", _NO_WAY),
    ("closed by remote host", _NO_WAY),
    ("Broken pipe", _NO_WAY),
)
# Only of what we asked for: start-up files complain of other programs.
NO_SUCH_PROGRAM: Refusals = (
    ("not found", _NO_PYTHON),
    ("No such file or directory", _NO_PYTHON),
    ("Unknown command", _NO_PYTHON),
)


def refusal(title: str, host: SshHost, lines: Sequence[str], when: str) -> HostError:
    """Make an error of a line that ended; `lines` are what ssh and the far shell complained of."""
    of_python = [line for line in lines if host.python in line]
    known = ((REFUSALS, lines, HostError), (AWAY, lines, HostAway), (NO_SUCH_PROGRAM, of_python, HostError))
    for refusals, among, kind in known:
        for sign, (what, remedy) in refusals:
            complaint = next((line for line in among if sign in line), None)
            if complaint:
                unfit = why_key_unfit(host.key) if sign == _NO_KEY else None
                why, then = unfit or (what, remedy.replace(BY_HAND, host.by_hand))
                return kind(f"{title}: cannot use {host.address} over ssh: {why} ({complaint.strip('@ ')})", then)
    last = f": {lines[-1]}" if lines else ""
    return HostError(f"{title}: ssh ended {when}{last}", f"By hand: {host.by_hand}")


def why_key_unfit(file: str) -> tuple[str, str] | None:
    """Return what keeps ssh from offering the key in this file, and what to do; None where nothing does. Asked only
    after a refusal: an agent may have the key of a file that cannot be read here."""
    complaint = ""
    if file:
        argv = ["ssh-keygen", "-y", "-P", "", "-f", file]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=KEYGEN_WITHIN_S, check=False
            )
            complaint = done.stderr.strip().rpartition("\n")[2] if done.returncode != 0 else ""
    if not complaint:
        return None
    if "bad permissions" in complaint:
        return f"ssh uses no key that others may read: {file}", f"Run: chmod 600 {file}"
    if "passphrase" in complaint:
        what = f"the key {file} has a passphrase, which nobody types here, and no agent has a key that it takes"
        return what, f"Run: ssh-add {file}"
    return f"{KEY_FILE} is no key that ssh can use: {complaint}", f"Set {KEY_FILE} to one"
