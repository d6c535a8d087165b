"""Starts a program with as many open files as its user may have: a server and a load generator need thousands."""

from collections.abc import Sequence

# The usual soft limit is 1,024. Each connection is an open file, and so is each file being sent. The hard limit is
# what the user may have. Some machines set it far higher than this, and servers would make tables of that size.
MOST_FILES = 262_144
_RAISE_LIMIT = f"""
most=$(ulimit -Hn)
case $most in unlimited) most={MOST_FILES} ;; esac
[ "$most" -le {MOST_FILES} ] || most={MOST_FILES}
ulimit -Sn "$most"
exec "$@"
"""


def with_open_files(argv: Sequence[str]) -> list[str]:
    """The command line that raises the soft limit, and then becomes this program."""
    return ["sh", "-c", _RAISE_LIMIT, "sh", *argv]
