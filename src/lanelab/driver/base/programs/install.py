"""Installs the programs that a command needs, or says what an administrator has to install.

Programs are looked for at every start, so this is quick; packages only matter once a program is missing. The packages'
names, and the installing itself, are in playbooks/.
"""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from lanelab.driver.base import configuration, paths
from lanelab.driver.base.amounts import form_for
from lanelab.driver.base.errors import InputError, MissingProgram
from lanelab.driver.base.programs import needs, system_package
from lanelab.driver.base.programs.ansible import ansible_settings
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.programs.needs import PLAYBOOKS, Program

CHROME = "Google's .deb packages of Chrome and the ChromeDriver of the same version will do"
OTHER_BUILDS = {
    "chromium": CHROME,
    "chromedriver": CHROME,
    "firefox": "Mozilla's archive, unpacked as /opt/firefox, will be seen",
}
INSTALL_PACKAGES = PLAYBOOKS / "roles" / "packages" / "files" / "install-packages"


def prepare(wanted: Iterable[Program], used: Iterable[Program] = (), *, out: TextIO | None = None) -> None:
    """Install what is missing of the `wanted` programs, or raise MissingProgram with a remedy. What is missing of the
    `used` ones is installed too, but the command goes on without it."""
    wanted = tuple(wanted)
    used = tuple(program for program in used if program not in wanted)
    if not needs.missing((*wanted, *used)):
        return
    out = out or sys.stderr
    _refuse_wrong_choices(needs.missing((*wanted, *used)))
    why = _install(needs.missing((*wanted, *used)), out, ask=bool(needs.missing(wanted)))
    missing, unused = needs.missing(wanted), needs.missing(used)
    if unused:
        print(f"lanelab: going on without {_names(unused)} ({why}): what needs them is skipped.", file=out)
    if all(program.optional for program in missing) and (not missing or host_has_netem()):
        if missing:
            print(
                f"lanelab: going on without linux.uml ({why}): the router will be this machine's own kernel.", file=out
            )
        if unused and packages_for(unused):
            print(f"lanelab: {remedy(unused)}", file=out)
        return
    raise MissingProgram(f"{_names(missing)} {_are(missing)} not installed ({why})", remedy(missing))


def _refuse_wrong_choices(missing: Iterable[Program]) -> None:
    """No package brings what a variable of the environment names."""
    for program in missing:
        if program.chosen:
            what = f"{program.chosen!r} is no program that can run inside a bed"
            remedy = f"Set {program.variable} to the path of {program.name} (a snap will not do), or unset it"
            raise InputError(what, remedy, key=program.variable)


def remedy(missing: Sequence[Program]) -> str:
    """Say what someone with the right to install packages has to do, all at once, also for later commands."""
    if family() not in needs.families():
        return (
            f"lanelab does not know the names of packages in {family()}. Install these with this system's own means: "
            f"{_names(missing)}. It knows them in {', '.join(needs.families())}"
        )
    parts = []
    if packages_for(missing):
        command = administrators_command([*missing, *needs.missing(needs.asked_for_at_once())])
        parts.append(
            f"An administrator can install all that lanelab needs to run{_and_to_be_tested()}, and no service, with:"
            f"\n\n    {command}\n"
        )
        parts.extend(filter(None, [system_package.hint(family(), platform.machine())]))
    without_package = [program for program in missing if not packages_for([program])]
    if nowhere := [program for program in without_package if not program.variable]:
        parts.append(f"{family()} has no package for {_names(nowhere)}")
    if by_hand := [program for program in without_package if program.variable]:
        variables = " and ".join(f"{program.variable} to {program.name}'s path" for program in by_hand)
        parts.append(
            f"{family()} has {' and '.join(program.name for program in by_hand)} only as a snap, which does not run "
            f"inside a bed. Install another build by hand ({_other_builds(by_hand)}). Where lanelab does not find it, "
            f"set {variables} (docs/guide.md, A browser by hand)"
        )
    return "\n".join(parts)


def _other_builds(by_hand: Iterable[Program]) -> str:
    return "; ".join(dict.fromkeys(OTHER_BUILDS[program.name] for program in by_hand if program.name in OTHER_BUILDS))


def _and_to_be_tested() -> str:
    return " and to be tested" if paths.CHECKOUT else ""


def administrators_command(missing: Iterable[Program]) -> str:
    """The command that installs these; the launcher prints the same. apt-get alone would start services."""
    in_order = [program for program in needs.all_programs() if program in set(missing)]
    return shlex.join(["sh", str(INSTALL_PACKAGES), *packages_for(in_order)])


def packages_for(missing: Iterable[Program]) -> list[str]:
    """Return the packages of this system that bring these programs."""
    return needs.packages(missing, family())


def family() -> str:
    """Return what runs here, as the keys of lanelab_families have it: debian-12, ubuntu-24.04."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "an unknown system"
    return f"{release.get('ID', 'unknown')}-{release.get('VERSION_ID', 'unknown')}"


def host_has_netem() -> bool:
    """Return whether this machine's kernel can be the router: sch_netem is built in, loaded, or can be loaded."""
    if Path("/sys/module/sch_netem").exists():
        return True
    modules = Path("/lib/modules") / platform.release()
    lists = [modules / "modules.builtin", modules / "modules.dep"]
    return any("/sch_netem.ko" in file.read_text() for file in lists if file.is_file())


def _names(programs: Iterable[Program]) -> str:
    return ", ".join(program.name for program in programs)


def _are(programs: Sequence[Program]) -> str:
    return form_for(len(programs), "is", "are")


def _install(missing: list[Program], out: TextIO, *, ask: bool) -> str:
    """Run the playbook, where we may; with `ask` sudo may want a password. Returns why something may be missing."""
    if not configuration.current().may_install:
        return "LANELAB_NO_INSTALL is set"
    if family() not in needs.families():
        return f"{family()} is not a system that lanelab can install on"
    packages = packages_for(missing)
    if not packages:
        return f"{family()} has no package for that"
    become = _become(ask=ask)
    if become is None:
        return "there is no sudo that works here without a password" if find("sudo") else "there is no sudo here"
    log = paths.build_folder() / "prepare.log"
    how = "" if os.geteuid() == 0 else " with sudo"
    print(f"lanelab: {_names(missing)} {_are(missing)} missing. Installing{how}, starting no service:", file=out)
    print(f"lanelab:   {' '.join(packages)} (log: {log})", file=out, flush=True)
    if _run_playbook(missing, become, log):
        return f"the packages were installed, but this is not where it should be; log: {log}"
    print(*log.read_text(errors="replace").splitlines()[-15:], sep="\n", file=out, flush=True)
    return f"installing failed, log: {log}"


def _become(*, ask: bool) -> list[str] | None:
    """Return what to put before ansible-playbook; None where we cannot install packages."""
    if os.geteuid() == 0:
        return []
    sudo = find("sudo")
    if sudo is None:
        return None
    # In a session of its own, as Ansible's workers are: a password that sudo remembers for this terminal does not help.
    test = subprocess.run([sudo, "-n", "true"], capture_output=True, start_new_session=True, check=False)
    if test.returncode == 0:
        return []  # the role becomes root for the one task that needs it
    return [str(sudo)] if ask and sys.stdin.isatty() and sys.stderr.isatty() else None


def _run_playbook(missing: Iterable[Program], become: list[str], log: Path) -> bool:
    """Run playbooks/prepare.yml on this machine. Its output goes to the log: the user has read what happens."""
    settings = ansible_settings()
    wanted = json.dumps({"packages_wanted": [program.name for program in missing]})
    argv = [sys.executable, "-I", "-m", "ansible", "playbook", str(PLAYBOOKS / "prepare.yml"), "--extra-vars", wanted]
    if become:
        argv = [*become, "env", *(f"{key}={value}" for key, value in settings.items()), *argv]
    with log.open("w") as output:
        result = subprocess.run(
            argv, cwd=PLAYBOOKS, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            check=False,
        )  # fmt: skip
    return result.returncode == 0
