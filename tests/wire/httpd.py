"""A real httpd on this machine's loopback, with mod_spdy or what else a test wants in it.

`running` starts it in a folder and a process group of its own, ends it whatever happens, and then looks at its error
log: a line that the test did not expect fails the test.
"""

import contextlib
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from lanelab.driver.arm.servers.apache.installation import MODULE_FOLDERS
from lanelab.driver.bed.open_files import with_open_files
from tests.kit.wait import left_after, wait_until
from tools.bench.replay_servers import free_port, user_lines

MODULES = next((Path(folder) for folder in MODULE_FOLDERS.split() if Path(folder).is_dir()), Path("/nonexistent"))
STARTING_S, ENDING_S = 120, 60  # under valgrind and the sanitizers httpd is slow
CLOSING_S, LETTING_GO_S = 1, 0.02
LISTENING = "0A"  # in /proc/net/tcp
# What httpd says of its own life, at whatever level it has been told to write.
ORDINARY = r":(notice|info|debug|trace\d)\]|AH01882: Init: this version of mod_ssl was compiled against a newer library"
NEVER_ORDINARY = r"exit signal|AddressSanitizer|runtime error:"  # a notice to httpd, but not to us
ACCESS = (
    r"{\"request\":\"%r\",\"status\":%>s,\"spdy\":\"%{SPDY_VERSION}e\",\"stream\":\"%{SPDY_STREAM_ID}e\","
    r"\"priority\":\"%{SPDY_PRIORITY}e\",\"pushed\":\"%{SPDY_PUSHED}e\",\"protocol\":\"%H\",\"body\":%B,\"in\":%I,"
    r"\"out\":%O,\"state\":\"%X\",\"remote\":\"%{c}a:%{remote}p\",\"host\":\"%{Host}i\",\"server\":\"%v\","
    r"\"keepalives\":%k,\"tls\":\"%{SSL_PROTOCOL}x\",\"resumed\":\"%{SSL_SESSION_RESUMED}x\","
    r"\"https\":\"%{HTTPS}e\"}"
)
BASE_MODULES = (  # those that are not there are built in
    "unixd log_config logio authz_core mime dir alias headers env setenvif rewrite deflate filter status cgid proxy "
    "proxy_http http2 ssl socache_shmcb reqtimeout unique_id remoteip actions include"
)


@dataclass(frozen=True, slots=True)
class Module:
    """A build of mod_spdy, and what httpd's environment needs for it."""

    path: Path
    environment: dict[str, str] = field(default_factory=dict)


def sanitized(path: Path) -> Module:
    """Of a build under the sanitizers. httpd itself leaks what it holds until its end, and does not matter here."""
    library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return Module(
        path,
        {
            "LD_PRELOAD": library.stdout.strip(),
            "ASAN_OPTIONS": "detect_leaks=0:handle_segv=2:handle_sigbus=2:handle_abort=2",
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        },
    )


class NotStarted(Exception):
    """httpd refused to start; the message is what it said."""


@dataclass(slots=True)
class Httpd:
    """A running server. `port` is in clear, `tls_port` in TLS."""

    program: Path
    folder: Path
    port: int
    tls_port: int
    threads: int
    process: subprocess.Popen[bytes] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    expected: list[str] = field(default_factory=list)
    ending: bool = False  # it has been asked to end gracefully

    @property
    def site(self) -> Path:
        return self.folder / "site"

    @property
    def pid(self) -> int:
        return int((self.folder / "httpd.pid").read_text())

    def put(self, name: str, content: bytes) -> None:
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if name.startswith("cgi/") else 0o644)

    def expect(self, pattern: str) -> None:
        """Lines of the error log that match are what the test is about."""
        self.expected.append(pattern)

    def error_lines(self) -> list[str]:
        log = self.folder / "error.log"
        return log.read_text(errors="replace").splitlines() if log.exists() else []

    def unexpected(self) -> list[str]:
        return [line for line in self.error_lines() if not self._is_expected(line)]

    def _is_expected(self, line: str) -> bool:
        ordinary = re.search(ORDINARY, line) and not re.search(NEVER_ORDINARY, line)
        return bool(ordinary) or any(re.search(pattern, line) for pattern in self.expected)

    def access(self, count: int = 0) -> list[dict[str, Any]]:
        """The access log; waits until it has that many lines."""
        log = self.folder / "access.log"
        self.wait(lambda: log.exists() and len(log.read_bytes().splitlines()) >= count)
        return [json.loads(line) for line in log.read_text().splitlines()]

    def wait(self, so: object, *, wait_s: float = STARTING_S) -> None:
        """Until `so()` is true."""
        assert callable(so)
        wait_until(so, wait_s, lambda: f"the error log: {self.error_lines()[-5:]}")

    def graceful_restart(self) -> None:
        self._signal(signal.SIGUSR1)

    def graceful_stop(self) -> None:
        self.ending = True  # a second time it would mean at once
        self._signal(signal.SIGWINCH)

    def connections(self) -> int:
        """How many it holds."""
        mine = {f"{port:04X}" for port in (self.port, self.tls_port)}
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        # Local address, state, inode: 0 when no process holds it.
        return sum(row[1][-4:] in mine and row[3] != LISTENING and row[9] != "0" for row in rows)

    def _signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def children(self) -> list[int]:
        """The processes that serve: those with all their threads. mod_cgid's has none."""
        self.wait(lambda: bool(self._threaded()))
        return self._threaded()

    def _threaded(self) -> list[int]:
        pids = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(pid) for pid in pids if threads_of(int(pid)) >= self.threads + 2]  # the main one, and the listener

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


def threads_of(pid: int) -> int:
    """0: there is no such process."""
    try:
        return len(list(Path(f"/proc/{pid}/task").iterdir()))
    except FileNotFoundError:
        return 0


def memory_kib(pid: int) -> int:
    """What it has in memory of its own."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(n) for n in re.findall(r"^Private_\w+: +(\d+) kB", text, re.MULTILINE))


@contextlib.contextmanager
def running(
    program: Path,
    module: Module | None,
    directives: str = "",
    *,
    mpm: str = "event",
    tls: str = "",
    in_clear: str = "",
    log_level: str = "warn",
    processes: int = 1,
    threads: int = 8,
    wrapper: Sequence[str] = (),
) -> Iterator[Httpd]:
    """`directives` are for the server, `in_clear` and `tls` for the virtual hosts of the two ports. `wrapper` is put
    before the command: valgrind and its options."""
    folder = Path(tempfile.mkdtemp(prefix="wire-httpd-"))
    folder.chmod(0o755)
    server = Httpd(
        program,
        folder,
        free_port(),
        free_port(),
        threads,
        environment={**os.environ, **(module.environment if module else {})},
    )
    try:
        _prepare(server)
        (folder / "httpd.conf").write_text(
            _loading(module, mpm)
            + _workers(mpm, processes, threads)
            + _configuration(server, directives, tls, in_clear, log_level)
        )
        _start(server, wrapper)
        try:
            yield server
        finally:
            _end(server)
        assert not server.unexpected(), "\n".join(server.unexpected())
    finally:
        shutil.rmtree(folder)


def refusal(program: Path, module: Module, directives: str, *, mpm: str = "event") -> str:
    """What httpd says when it does not start with these."""
    try:
        with running(program, module, directives, mpm=mpm):
            pass
    except NotStarted as error:
        return str(error)
    raise AssertionError("httpd started")


def _prepare(server: Httpd) -> None:
    (server.folder / "site").mkdir()
    (server.folder / "site").chmod(0o755)
    (server.folder / "run").mkdir()
    make_certificate(server.folder)


def _loading(module: Module | None, mpm: str) -> str:
    wanted = [f"mpm_{mpm}", *BASE_MODULES.split()]
    lines = [f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in wanted if _module_file(name).exists()]
    if module is not None:
        lines.append(f"LoadModule spdy_module {module.path}")
    return "\n".join(lines) + "\n"


def _module_file(name: str) -> Path:
    return MODULES / f"mod_{name}.so"


def _workers(mpm: str, processes: int, threads: int) -> str:
    if mpm == "prefork":
        return "StartServers 1\nMinSpareServers 1\nMaxRequestWorkers 10\n"
    most = processes * threads
    return (
        f"ThreadLimit 64\nServerLimit 4\nStartServers {processes}\nThreadsPerChild {threads}\n"
        f"MaxRequestWorkers {most}\nMinSpareThreads 1\nMaxSpareThreads {most}\n"
    )


def _configuration(server: Httpd, directives: str, tls: str, in_clear: str, log_level: str) -> str:
    folder = server.folder
    return f"""
ServerRoot "{folder}"
DefaultRuntimeDir "{folder}/run"
PidFile "{folder}/httpd.pid"
ScriptSock "{folder}/run/cgisock"
ServerName test.example
{user_lines()}
Listen 127.0.0.1:{server.port} http
Listen 127.0.0.1:{server.tls_port} https
ErrorLog "{folder}/error.log"
LogLevel {log_level}
LogFormat "{ACCESS}" json
CustomLog "{folder}/access.log" json
TypesConfig /etc/mime.types
DocumentRoot "{folder}/site"
DirectoryIndex index.html
ExtendedStatus On
<Directory "{folder}/site">
    AllowOverride None
    Options FollowSymLinks
    Require all granted
</Directory>
<Directory "{folder}/site/cgi">
    Options +ExecCGI
    SetHandler cgi-script
</Directory>
<Location "/server-status">
    SetHandler server-status
</Location>
SSLCertificateFile "{folder}/certificate.pem"
SSLCertificateKeyFile "{folder}/key.pem"
SSLSessionCache "shmcb:{folder}/run/tls(512000)"
{directives}
<VirtualHost 127.0.0.1:{server.port}>
    ServerName a.example
    {in_clear}
</VirtualHost>
<VirtualHost 127.0.0.1:{server.port}>
    ServerName b.example
    Header set x-host b
    {in_clear}
</VirtualHost>
<VirtualHost 127.0.0.1:{server.tls_port}>
    ServerName a.example
    SSLEngine on
    SSLOptions +StdEnvVars
    {tls}
</VirtualHost>
<VirtualHost 127.0.0.1:{server.tls_port}>
    ServerName b.example
    SSLEngine on
    Header set x-host b
    {tls}
</VirtualHost>
"""


def _start(server: Httpd, wrapper: Sequence[str]) -> None:
    output = server.folder / "output"
    command = [*wrapper, str(server.program), "-f", str(server.folder / "httpd.conf"), "-DFOREGROUND"]
    with output.open("wb") as out:
        server.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *with_open_files(command)],
            env=server.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    process = server.process

    def words() -> str:
        return output.read_text(errors="replace") + "\n".join(server.error_lines())

    def is_ready() -> bool:
        if any("resuming normal operations" in line for line in server.error_lines()):
            return True
        if process.poll() is not None:
            raise NotStarted(words())
        return False

    try:
        wait_until(is_ready, STARTING_S, words)
    except BaseException:
        _end(server)
        raise


def _end(server: Httpd) -> None:
    """Connections that clients have just closed end first: httpd's event MPM may crash when it is told to end while a
    thread closes one (docs/upstream/httpd-event-close-worker-sockets.md)."""
    process = server.process
    assert process is not None
    try:
        if process.poll() is None:
            if not server.ending:
                server.graceful_stop()
            _await_connections(server)
            process.terminate()
        process.wait(ENDING_S)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(ENDING_S)


def _await_connections(server: Httpd) -> None:
    """Until httpd holds none any more, if that is soon: clients may have left some open."""
    left_after(server.connections, CLOSING_S)
    time.sleep(LETTING_GO_S)  # a thread forgets a connection a moment after it has closed it


def make_certificate(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a.example")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("a.example"), x509.DNSName("b.example")]), False)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
