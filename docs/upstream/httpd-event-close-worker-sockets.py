#!/usr/bin/env python3
"""Stop httpd with SIGTERM at the moment at which its clients close, again and again, and count dead children.

    python3 httpd-event-close-worker-sockets.py [--rounds 300] [--signal TERM] [--cores FOLDER]

Needs httpd with mod_ssl, openssl and Python 3, and nothing else. Runs as any user.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

CLIENTS = 7
CONFIGURATION = """
ServerRoot "{folder}"
ServerName localhost
Listen 127.0.0.1:{port}
{modules}
{user}
PidFile "{folder}/httpd.pid"
DefaultRuntimeDir "{folder}"
ErrorLog "{folder}/error.log"
DocumentRoot "{folder}/site"
{cores}
StartServers 1
ServerLimit 1
ThreadsPerChild 8
MaxRequestWorkers 8
SSLEngine on
SSLCertificateFile "{folder}/certificate.pem"
SSLCertificateKeyFile "{folder}/key.pem"
"""
FOLDERS = ("/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/local/apache2/modules")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--httpd", default=shutil.which("apache2") or shutil.which("httpd"))
    parser.add_argument("--modules", default=next((each for each in FOLDERS if pathlib.Path(each).is_dir()), None))
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--signal", default="TERM", help="TERM, or WINCH for comparison")
    parser.add_argument("--delay-ms", type=float, default=0, help="between the clients' ends and the signal")
    parser.add_argument("--cores", help="a folder for core files, writable by the server's user")
    given = parser.parse_args()
    if given.cores:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        port = prepare(folder, given)
        crashed = 0
        for number in range(1, given.rounds + 1):
            died = one_round(folder, port, given)
            crashed += bool(died)
            for line in died:
                print(f"round {number}: {line}", flush=True)
    print(f"{crashed} of {given.rounds} rounds had a child that died")


def prepare(folder: pathlib.Path, given: argparse.Namespace) -> int:
    """The port."""
    (folder / "site").mkdir()
    (folder / "site" / "page").write_text("page\n")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout key.pem -out certificate.pem"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    modules = [f"{given.modules}/mod_{each}.so" for each in ("mpm_event", "unixd", "authz_core", "ssl")]
    loaded = [
        f"LoadModule {pathlib.Path(each).stem[4:]}_module {each}" for each in modules if pathlib.Path(each).exists()
    ]
    values = {"folder": folder, "port": port, "modules": "\n".join(loaded)}
    values["user"] = "User nobody\nGroup #65534" if os.getuid() == 0 else ""
    values["cores"] = f'CoreDumpDirectory "{given.cores}"' if given.cores else ""
    (folder / "httpd.conf").write_text(CONFIGURATION.format(**values))
    return port


def one_round(folder: pathlib.Path, port: int, given: argparse.Namespace) -> list[str]:
    """What the error log says of children that died."""
    log = folder / "error.log"
    log.unlink(missing_ok=True)
    server = subprocess.Popen([given.httpd, "-f", str(folder / "httpd.conf"), "-DFOREGROUND"])
    clients = [client(port) for _ in range(CLIENTS)]
    for each in clients:
        each.sendall(b"GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while b"page\n" not in each.recv(65536):
            pass
    for each in clients:
        each.close()
    time.sleep(given.delay_ms / 1000)
    server.send_signal(getattr(signal, "SIG" + given.signal))
    server.wait()
    return re.findall(r"AH0005[12].*", log.read_text())


def client(port: int) -> ssl.SSLSocket:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    until = time.monotonic() + 10
    while True:
        try:
            return context.wrap_socket(socket.create_connection(("127.0.0.1", port), 10))
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


if __name__ == "__main__":
    main()
