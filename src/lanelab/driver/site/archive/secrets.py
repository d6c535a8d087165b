"""What lets somebody else act as the user who recorded: cookies and authorisation. Left out of a site, and named."""

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.site import Headers

IN_REQUESTS = frozenset(("cookie", "cookie2", "authorization", "proxy-authorization"))
# Those of a request too: a server may send back what it was sent.
IN_ANSWERS = IN_REQUESTS | {"set-cookie", "set-cookie2", "authentication-info", "proxy-authentication-info"}
NAMED = 8  # cookies of a host that are named


def without_secrets(exchanges: Iterable[Exchange]) -> tuple[tuple[Exchange, ...], tuple[str, ...]]:
    """The exchanges, and words on what was taken out of them: names, never values."""
    values_by_name: dict[tuple[str, str], set[str]] = {}
    clean = []
    for each in exchanges:
        host = _host(each.url)
        for names, fields in ((IN_REQUESTS, each.request_headers), (IN_ANSWERS, each.headers)):
            for name, value in fields:
                if name.lower() in names:
                    values_by_name.setdefault((host, name.lower()), set()).update(_cookies(name, value))
        clean.append(
            replace(
                each,
                request_headers=_without(each.request_headers, IN_REQUESTS),
                headers=_without(each.headers, IN_ANSWERS),
            )
        )
    return tuple(clean), tuple(_words(*key, values_by_name[key]) for key in sorted(values_by_name))


def _without(fields: Headers, names: frozenset[str]) -> Headers:
    return tuple(each for each in fields if each[0].lower() not in names)


def _cookies(name: str, value: str) -> set[str]:
    if "cookie" not in name.lower():
        return set()
    pairs = value.split(";") if name.lower() == "cookie" else value.split(";")[:1]
    return {pair.partition("=")[0].strip() for pair in pairs if "=" in pair}


def _words(host: str, name: str, cookies: set[str]) -> str:
    named = [each[:40] for each in sorted(cookies)]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    return f"secret: {name} of {host}" + (f": {', '.join(named[:NAMED])}{more}" if named else "")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "?"
    except ValueError:
        return "?"
