"""What each command needs installed on this machine, and getting it installed.

Programs are looked for on every start (so this is quick); packages only matter once one is missing. The names of
packages, and the installing itself, are in playbooks/. Try it: `python -m driver.host.install link test`.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import TextIO

from driver.host.find_program import find
from driver.host.needs import REQUIRED, UML, WISHED, Program, entry
from model import configuration
from model.errors import EXIT_BAD_INPUT, LanelabError, MissingProgram
from model.paths import PROJECT, build_folder

PLAYBOOKS = PROJECT / "playbooks"
PACKAGES = PLAYBOOKS / "vars" / "packages.yml"


def missing(command: str) -> list[Program]:
    """The programs that a command needs and this machine lacks."""
    return _lacking(REQUIRED.get(entry(command), ()))


def missed(command: str) -> list[Program]:
    """Those that it would use, and can do without."""
    return _lacking(WISHED.get(entry(command), ()))


def prepare(command: str, *, out: TextIO | None = None) -> None:
    """See to it that a command finds its programs: install what is missing, or raise MissingProgram with a remedy."""
    lacking, wished = missing(command), missed(command)
    if not lacking and not wished:
        return
    out = out or sys.stderr
    why = _install(command, [*lacking, *wished], out, ask=bool(lacking))
    lacking, wished = missing(command), missed(command)
    if wished:
        names = ", ".join(dict.fromkeys(program.name for program in wished))
        print(f"lanelab: going on without {names} ({why}): what needs them is skipped.", file=out)
        if packages := packages_for(wished):
            print(f"lanelab: an administrator can install them with: {install_command(packages)}", file=out)
    if all(program in UML for program in lacking) and (not lacking or host_has_netem()):
        if lacking:
            print(
                f"lanelab: going on without linux.uml ({why}): the router will be this machine's own kernel.", file=out
            )
        return
    raise MissingProgram(f"{_listed(lacking)} not installed ({why})", remedy(lacking))


def remedy(lacking: Iterable[Program]) -> str:
    """What someone with the right to install packages has to do."""
    lacking = list(lacking)
    if not packages_known():
        return (
            f"lanelab does not know the names of packages in {family()}. Install these with this system's own means: "
            f"{', '.join(program.name for program in lacking)}. It knows them in {', '.join(_vars('lanelab_packages'))}"
        )
    parts, packages = [], packages_for(lacking)
    if packages:
        parts.append(f"An administrator can install what is missing with:\n\n    {install_command(packages)}\n")
    by_hand = [program for program in lacking if not packages_for([program])]
    if by_hand:
        variables = " and ".join(f"{program.variable} to {program.name}" for program in by_hand if program.variable)
        parts.append(
            f"{family()} has {' and '.join(program.name for program in by_hand)} only as a snap, which does not run "
            "inside a bed. Install another build by hand (Google's .deb packages of Chrome and the ChromeDriver of the "
            f"same version will do). Where lanelab does not find it, set {variables} (docs/guide.md, A browser by hand)"
        )
    return "\n".join(parts)


def install_command(packages: Iterable[str]) -> str:
    """The same command as the launcher prints."""
    # Not "&&": a source that cannot be reached, and is not needed, makes "update" fail.
    return f"apt-get update; apt-get install --yes --no-install-recommends {' '.join(packages)}"


def packages_known() -> bool:
    """Whether lanelab knows this system's packages."""
    return family() in _vars("lanelab_packages")


def packages_for(lacking: Iterable[Program]) -> list[str]:
    """The packages that bring these programs; nothing where lanelab does not know this system, or it has none."""
    names = _vars("lanelab_packages").get(family(), {})
    needs = [need for each in lacking if each.need in names for need in (each.need, *each.along)]
    return list(dict.fromkeys(names[need] for need in needs))


def family() -> str:
    """What runs here, as the keys of lanelab_packages have it: debian-12, ubuntu-24.04."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "an unknown system"
    return f"{release.get('ID', 'unknown')}-{release.get('VERSION_ID', 'unknown')}"


def host_has_netem() -> bool:
    """Whether this machine's own kernel can be the router: sch_netem is built in, loaded, or there to be loaded."""
    if Path("/sys/module/sch_netem").exists():
        return True
    modules = Path("/lib/modules") / platform.release()
    lists = [modules / "modules.builtin", modules / "modules.dep"]
    return any("/sch_netem.ko" in file.read_text() for file in lists if file.is_file())


def _lacking(programs: Iterable[Program]) -> list[Program]:
    return [program for program in dict.fromkeys(programs) if program.wanted_here() and not program.path()]


def _listed(programs: Iterable[Program]) -> str:
    names = [program.name for program in programs]
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _vars(name: str) -> dict[str, dict[str, str]]:
    import yaml  # noqa: PLC0415  only when something is missing: it costs as much as all the rest of the start

    values: dict[str, dict[str, dict[str, str]]] = yaml.safe_load(PACKAGES.read_text())
    return values[name]


def _install(command: str, lacking: list[Program], out: TextIO, *, ask: bool) -> str:
    """Run the playbook, if we may; `ask`: for a password too. Returns briefly why something may still be missing."""
    if not configuration.current().may_install:
        return "LANELAB_NO_INSTALL is set"
    if not packages_known():
        return f"{family()} is not a system that lanelab can install on"
    if not packages_for(lacking):
        return f"{family()} has no package for that"
    become = _become(ask=ask)
    if become is None:
        return "there is no sudo that works here without a password" if find("sudo") else "there is no sudo here"
    log = build_folder() / "prepare.log"
    how = "" if os.geteuid() == 0 else " with sudo"
    print(f"lanelab: {_listed(lacking)} missing. Installing{how}, starting no service, what is missing of:", file=out)
    print(f"lanelab:   {' '.join(role_packages(command))} (log: {log})", file=out, flush=True)
    if _run_playbook(command, become, log):
        return f"the packages were installed, but this is not where it should be; log: {log}"
    print(*log.read_text(errors="replace").splitlines()[-15:], sep="\n", file=out, flush=True)
    return f"installing failed, log: {log}"


def roles_of(command: str) -> list[str]:
    """The playbook's roles that bring what a command needs or would use, and the least besides: several roles may have
    the same need, and who wants an ssh client shall get neither an ssh server nor virtual machines."""
    programs = (*REQUIRED.get(entry(command), ()), *WISHED.get(entry(command), ()))
    roles = {role: set(brought) for role, brought in _vars("lanelab_needs").items()}
    needs = {program.need for program in programs} & set().union(*roles.values())
    useful = [role for role, brought in roles.items() if needs & brought]
    choices = (chosen for count in range(len(useful) + 1) for chosen in combinations(useful, count))
    enough = (chosen for chosen in choices if needs <= set().union(*(roles[role] for role in chosen)))
    return list(min(enough, key=lambda chosen: len(set().union(*(roles[role] for role in chosen)))))


def role_packages(command: str) -> list[str]:
    """All that the playbook sees to for a command. What is there already stays as it is."""
    only_on = _vars("lanelab_only_on")
    needs = dict.fromkeys(need for role in roles_of(command) for need in _vars("lanelab_needs")[role])
    names = _vars("lanelab_packages")[family()]
    wanted = (need for need in needs if platform.machine() in only_on.get(need, [platform.machine()]))
    return [names[need] for need in wanted if need in names]


def _become(*, ask: bool) -> list[str] | None:
    """What to put before ansible-playbook; None where packages cannot be installed by us."""
    if os.geteuid() == 0:
        return []
    sudo = find("sudo")
    if sudo is None:
        return None
    # In a session of its own, as Ansible's workers are: a password that sudo remembers for this terminal does not help.
    test = subprocess.run([sudo, "-n", "true"], capture_output=True, start_new_session=True, check=False)
    if test.returncode == 0:
        return []  # the roles become root for the one task that needs it
    return [str(sudo)] if ask and sys.stdin.isatty() and sys.stderr.isatty() else None


def _run_playbook(command: str, become: list[str], log: Path) -> bool:
    """Run playbooks/prepare.yml on this machine. Its output is for the log: the user was told what happens."""
    tags = ["--tags", ",".join(roles_of(command))]
    settings = ansible_settings()
    argv = [sys.executable, "-I", "-m", "ansible", "playbook", str(PLAYBOOKS / "prepare.yml"), *tags]
    if become:
        argv = [*become, "env", *(f"{key}={value}" for key, value in settings.items()), *argv]
    with log.open("w") as output:
        result = subprocess.run(
            argv, cwd=PLAYBOOKS, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            check=False,
        )  # fmt: skip
    return result.returncode == 0


def ansible_settings() -> dict[str, str]:
    """The environment that Ansible needs to behave the same everywhere, and to leave no files behind."""
    home = build_folder() / "ansible"
    (home / "tmp").mkdir(parents=True, exist_ok=True)  # by us: under sudo it would become root's
    return {
        "ANSIBLE_CONFIG": str(PLAYBOOKS / "ansible.cfg"),
        "ANSIBLE_HOME": str(home),
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",  # Ansible refuses any locale that is not UTF-8
        "PYTHONDONTWRITEBYTECODE": "1",  # under sudo: leave no files of root's in the user's environment
    }


def main(argv: list[str]) -> int:
    if not argv:
        print(f"usage: python -m driver.host.install COMMAND, for example: {', '.join(REQUIRED)}", file=sys.stderr)
        return EXIT_BAD_INPUT
    try:
        prepare(" ".join(argv))
    except LanelabError as error:
        print(f"lanelab: {error}", file=sys.stderr)
        return error.exit_status
    print(f"nothing is missing for: lanelab {' '.join(argv)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
