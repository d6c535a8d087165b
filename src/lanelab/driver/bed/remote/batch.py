"""An `ip` or a `tc` that stays, so that nothing has to be started for each question.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import json
import subprocess

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Batch:
    """An `ip` or `tc` that stays, and answers each command with a line of JSON."""

    def __init__(self, program: str, *options: str) -> None:
        words = [program, "-j", *options, "-force", "-batch", "-"]
        environment = {"PATH": SYSTEM_PATH}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, env=environment)

    def ask(self, command: str) -> object:
        source, answers = self._process.stdin, self._process.stdout
        if source is None or answers is None:
            raise OSError("no pipe to a program")
        source.write(command.encode() + b"\n")
        source.flush()
        line = answers.readline()
        if not line.startswith(b"["):
            raise OSError("'" + command + "' said: " + line.decode(errors="replace").strip())
        return json.loads(line)
