"""What tests of recordings do inside a bed; each returns facts to be judged outside."""

import base64
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.devices import device_named
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.bed.node import Command, Completed, Stdio
from lanelab.driver.collect.new_site import Facts, add_site
from lanelab.driver.collect.recording.record import Recording, Wish, record
from lanelab.driver.site.load import load_site
from lanelab.driver.trial.recorders.screenshot import FILE as PICTURE
from tests.e2e import pages
from tests.e2e.loads import Settings, browsers, running_browsers
from tests.e2e.pages import await_port
from tests.kit.inside import InsideBed
from tests.kit.origins import page
from tests.kit.wait import wait_until

LOG = "/run/origins.log"
APACHE = """
ServerRoot /run
ServerName site.example
PidFile /run/httpd.pid
ErrorLog /run/httpd-error.log
Mutex pthread
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so
LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
LoadModule mime_module /usr/lib/apache2/modules/mod_mime.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
TypesConfig /etc/mime.types
Listen 443
Protocols h2
SSLEngine on
SSLCertificateFile {certificate}
SSLCertificateKeyFile {key}
DocumentRoot /run/site
DirectoryIndex index.html
AddOutputFilterByType DEFLATE text/html text/css text/javascript application/javascript
"""


def around(inside: InsideBed) -> Surroundings:
    """The servers are started; the browser trusts them."""
    authority = Authority.make(Path("/run/authority"))
    h2 = authority.leaf(page.H2_HOSTS, "ecdsa-p256")
    h1 = authority.leaf([name for name in page.HTTPS_HOSTS if name not in page.H2_HOSTS], "rsa-2048")
    pairs = [str(path) for leaf in (h2, h1) for path in (leaf.certificate, leaf.key)]
    argv = [sys.executable, "-P", "-m", "tests.kit.origins.server", ADDRESSES["server"], LOG, *pairs]
    inside.server.spawn(Command(argv, {"PYTHONPATH": str(PROJECT)}))
    await_port(inside.server, 443)
    hosts = dict.fromkeys(page.HOSTS, ADDRESSES["server"])
    return Surroundings(hosts=hosts, trusted=(h2.spki_sha256_b64, h1.spki_sha256_b64))


def sent() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(LOG).read_text().splitlines()]


def flat(recording: Recording) -> dict[str, Any]:
    data = asdict(recording)
    data["screenshot"] = len(recording.screenshot)
    for each in data["exchanges"]:
        each["body"] = base64.b64encode(each["body"]).decode()
        each["request_body"] = each["request_body"].decode("latin-1")
    return data


def everything(inside: InsideBed) -> dict[str, Any]:
    """In one bed, since each takes seconds to come up."""
    surroundings = around(inside)
    thirty = thirty_origins(inside, surroundings)
    seen = as_a_trial(inside, surroundings)
    return {"thirty": thirty, "seen": seen, "trouble": trouble(inside, surroundings), "command": by_command(inside)}


def as_a_trial(inside: InsideBed, surroundings: Surroundings) -> list[str]:
    """The addresses of the same page that a trial's record has."""
    with browsers(inside) as made:
        load = made.open(Settings(), surroundings)
        load.load(page.ENTRY, 120)
        record_of_load = load.record()
        load.close()
    return [request.url for request in record_of_load.requests]


def thirty_origins(inside: InsideBed, surroundings: Surroundings) -> dict[str, Any]:
    """The whole page, scrolled through."""
    wish = Wish(page.ENTRY, device_named("desktop"), scroll=True, browser_flags=(page.SECURE,))
    recording = record(inside.client, wish, surroundings)
    return {"recording": flat(recording), "sent": sent()}


def trouble(inside: InsideBed, surroundings: Surroundings) -> dict[str, Any]:
    """A page with what a recording cannot have."""
    return flat(record(inside.client, Wish(page.TROUBLE, device_named("lumia-900")), surroundings))


def no_pages(inside: InsideBed) -> dict[str, str]:
    """What is no page, by the words that it is refused with."""
    surroundings = around(inside)
    stranger = Surroundings(hosts=surroundings.hosts)
    found = {}
    for name, url in page.NO_PAGES.items():
        try:
            record(
                inside.client, Wish(url, device_named("desktop")), stranger if name == "certificate" else surroundings
            )
            found[name] = ""
        except LanelabError as error:
            found[name] = str(error)
    return found


def each_way(inside: InsideBed) -> dict[str, Any]:
    """A page that asks in each way that browsers have."""
    wish = Wish(page.ODD, device_named("desktop"), wait_s=1.0, browser_flags=(page.SECURE,))
    recording = record(inside.client, wish, around(inside))
    return {"recording": flat(recording), "sent": sent()}


def apache(inside: InsideBed) -> dict[str, Any]:
    """A page of Apache's own, over HTTP/2 with its own compression, beside what curl gets of it."""
    leaf = Authority.make(Path("/run/authority")).leaf([pages.HOST], "ecdsa-p256")
    pages.write(Path("/run/site"))
    Path("/run/site/s.css").write_text("".join(f"p.a{number} {{ color: #{number:06x} }}\n" for number in range(5000)))
    Path("/run/httpd.conf").write_text(APACHE.format(certificate=leaf.certificate, key=leaf.key))
    inside.server.spawn(Command(["apache2", "-f", "/run/httpd.conf", "-D", "FOREGROUND"]))
    await_port(inside.server, 443)
    surroundings = Surroundings(hosts={pages.HOST: ADDRESSES["server"]}, trusted=(leaf.spki_sha256_b64,))
    recording = record(inside.client, Wish(f"https://{pages.HOST}/", device_named("desktop")), surroundings)
    fetched = {}
    for each in recording.exchanges:
        ask = ["curl", "-sk", "--http2", "--resolve", f"{pages.HOST}:443:{ADDRESSES['server']}", "-D", "/run/head"]
        inside.client.run([*ask, "-H", "Accept-Encoding: gzip, br", "-o", "/run/body", each.url])
        head, body = Path("/run/head").read_text("latin-1"), Path("/run/body").read_bytes()
        fetched[each.url] = {"head": head.splitlines(), "body": base64.b64encode(body).decode()}
    return {"recording": flat(recording), "fetched": fetched}


def by_command(inside: InsideBed) -> dict[str, Any]:
    """`lanelab site record` where the client node is this machine, and the names are those of the page."""
    names = " ".join(page.HTTP_HOSTS)
    inside.client.cover("/etc/hosts", f"127.0.0.1 localhost\n{ADDRESSES['server']} {names}\n")
    archive = inside.folder / "sites"
    found: dict[str, Any] = {}

    def record_as(name: str, url: str, *options: str) -> Completed:
        argv = [sys.executable, "-P", "-m", "lanelab.driver.cli", "site", "record", url, "--name", name, *options]
        own = {"PYTHONPATH": str(PROJECT), "LANELAB_SITES": str(archive), "LANELAB_BUILD": str(inside.folder / "build")}
        return inside.client.run(["env", *(f"{key}={value}" for key, value in own.items()), *argv], check=False)

    for name, url, options in (
        ("small", page.SMALL, ("--licence", "ours", "--wait", "0.5")),
        ("small", page.SMALL, ()),
        ("small", page.SMALL, ("--replace", "--keep-secrets", "--viewport", "400x300", "--user-agent", "me/1")),
        ("lost", "http://nowhere.thirty.test/", ()),
    ):
        done = record_as(name, url, *options)
        site = archive / name
        files = {each.name: each.stat().st_size for each in site.iterdir()} if site.is_dir() else {}
        manifest = (site / "site.yaml").read_text() if files else ""
        words = f"{done.stdout}{done.stderr}"
        found[" ".join((name, *options[:1]))] = {
            "status": done.status, "said": words, "files": files, "manifest": manifest,
        }  # fmt: skip
    site_now = load_site("small", archive)
    found["objects"] = [[each.method, each.url, each.status, each.size] for each in site_now.objects]
    left = list((inside.folder / "build/recording").iterdir())
    found["left"] = [str(each) for each in left] + [each.name for each in archive.iterdir() if each.name != "small"]
    return found


def interrupted(inside: InsideBed, number: int) -> dict[str, Any]:
    """The command is stopped while its page still loads."""
    around(inside)
    inside.client.cover("/etc/hosts", f"{ADDRESSES['server']} {' '.join(page.HTTP_HOSTS)}\n")
    build = inside.folder / "build"
    own = {"PYTHONPATH": str(PROJECT), "LANELAB_SITES": str(inside.folder / "sites"), "LANELAB_BUILD": str(build)}
    argv = [sys.executable, "-P", "-m", "lanelab.driver.cli", "site", "record", page.HANGS, "--name", "gone"]
    with (inside.folder / "said").open("wb") as said:
        process = inside.client.spawn(Command(argv, own), Stdio(stdout=said.fileno(), stderr=said.fileno()))
        wait_until(lambda: "/hangs" in Path(LOG).read_text())
        process.signal(number)
        status = process.wait(60)
    return {
        "status": status,
        "left": [str(each) for each in (build / "recording").iterdir()],
        "site": (inside.folder / "sites" / "gone").exists(),
        "browsers": running_browsers(),
        "said": (inside.folder / "said").read_text(),
    }


def thirty_origins_site(inside: InsideBed, archive: str) -> dict[str, Any]:
    """The page of thirty origins as a site of the archive: tests/kit/origins/record.py calls this."""
    wish = Wish(page.ENTRY, device_named("desktop"), scroll=True, browser_flags=(page.SECURE,))
    recording = record(inside.client, wish, around(inside))
    facts = Facts(
        title="A page of thirty origins with all that servers do",
        source="recorded from the servers of tests/kit/origins, by tests/kit/origins/record.py",
        entry=recording.url,
        date=recording.date,
        user_agent=recording.user_agent,
        viewport=recording.viewport,
        licence="Apache-2.0, like lanelab",
        synthetic=True,
        unanswered=recording.unanswered,
        left_out=recording.left_out,
    )
    files = {PICTURE: recording.screenshot}
    made = add_site("thirty-origins", recording.exchanges, facts, Path(archive), replace=True, files=files)
    return {"objects": made.objects, "notes": recording.notes}
