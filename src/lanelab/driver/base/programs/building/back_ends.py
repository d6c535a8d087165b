"""The back ends, Tomcat and Jetty in several versions with our servlet in them: when one is first needed, its jars come
from Maven's repository, and the servlet is compiled. Each becomes one file, a zip of the jars on its class path."""

import hashlib
import os
import subprocess
import zipfile
from pathlib import Path
from typing import TextIO

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs import install, needs
from lanelab.driver.base.programs.building import single_build
from lanelab.driver.base.programs.find_program import find

SOURCES = PROJECT / "native" / "servlet"
COMMON = SOURCES / "common"
BACK_ENDS = ("tomcat-10.1", "jetty-12", "jetty-9.2", "jetty-8.1")
# The servlet is written for jakarta.servlet. Until 2020 the same classes were in javax.servlet.
BEFORE_JAKARTA = frozenset(("jetty-9.2", "jetty-8.1"))
RELEASE = "11"  # what every Java that runs the newest of them reads
OWN_JAR = "back-end.jar"
BUILDING_S = 20
COPY_JARS = ("dependency:copy-dependencies", "-DincludeScope=runtime")
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of a zip's time: the same files make the same zip


def back_end(name: str, *, out: TextIO | None = None) -> Path:
    """Return the zip of a back end."""
    lacking = needs.missing(needs.programs("back-end"))
    if lacking:
        names = ", ".join(program.name for program in lacking)
        raise BuildError(f"the back end {name} cannot be built: {names} missing", install.remedy(lacking))

    def make(folder: Path, log: single_build.Log) -> None:
        jars, classes = folder / "jars", folder / "classes"
        _fetch(name, jars, log)
        _compile(name, jars, classes, log)
        _pack({str(file.relative_to(classes)): file for file in classes.rglob("*.class")}, jars / OWN_JAR)
        _pack({file.name: file for file in jars.iterdir()}, folder / f"{name}.zip")
        single_build.remove(jars)
        single_build.remove(classes)

    build = single_build.made_once(
        f"building the back end {name}", _folder(), _key(name), make, about_s=BUILDING_S, out=out
    )
    return build / f"{name}.zip"


def is_built(name: str) -> bool:
    """Return whether it is there, as it would be built now. What builds it may not be there either."""
    return not needs.missing(needs.programs("back-end")) and single_build.is_made(_folder(), _key(name))


def _folder() -> Path:
    """One for all: Maven is not to be busy twice in its repository."""
    return build_folder() / "back_ends" / "made"


def _key(name: str) -> str:
    made_from = (
        *single_build.sources(COMMON, without=_irrelevant),
        *single_build.sources(SOURCES / name, without=_irrelevant),
    )
    return single_build.key_of(name, _compiler(), *made_from)


def _fetch(name: str, jars: Path, log: single_build.Log) -> None:
    repository = build_folder().absolute() / "back_ends" / "maven"
    maven: list[str | Path] = [
        _program("mvn"),
        "--batch-mode",
        "--strict-checksums",
        f"-Dmaven.repo.local={repository}",
    ]
    log.run([*maven, "-f", SOURCES / name / "pom.xml", *COPY_JARS, f"-DoutputDirectory={jars}"], environment=os.environ)
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in jars.iterdir()}
    lines = (SOURCES / name / "jars.sha256").read_text().splitlines()
    wanted = {jar: digest for digest, jar in map(str.split, lines)}
    if digests != wanted:
        odd = ", ".join(sorted(jar for jar in {*digests, *wanted} if digests.get(jar) != wanted.get(jar)))
        raise log.failure(f"what Maven's repository has is not what native/servlet/{name}/jars.sha256 says: {odd}")


def _compile(name: str, jars: Path, classes: Path, log: single_build.Log) -> None:
    sources = classes.with_name("sources")
    sources.mkdir()
    for file in (*COMMON.glob("*.java"), *(SOURCES / name).glob("*.java")):
        text = file.read_text()
        older = text.replace("import jakarta.servlet.", "import javax.servlet.") if name in BEFORE_JAKARTA else text
        (sources / file.name).write_text(older)
    javac: list[str | Path] = [_program("javac"), "--release", RELEASE, "-nowarn", "-cp", f"{jars}/*", "-d", classes]
    log.run([*javac, *sorted(sources.iterdir())], environment=os.environ)
    single_build.remove(sources)


def _pack(files: dict[str, Path], target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, BEGINNING), files[name].read_bytes())


def _program(name: str) -> Path:
    program = find(name)
    if program is None:
        raise BuildError(f"no back end can be built: {name} missing", install.remedy([needs.program(name)]))
    return program


def _compiler() -> str:
    done = subprocess.run([_program("javac"), "-version"], capture_output=True, text=True, check=False, cwd="/")
    return done.stdout.strip()


def _irrelevant(path: Path) -> bool:
    return path.suffix == ".md"
