"""Who may see the page. Another page in the same browser, another program's cookie and another host's name may not.

A link with a token lets a browser in and gives it a cookie. The owner's link holds once: whoever finds it in a history
later has nothing.

Cookies ignore ports: a browser sends them to what anybody serves on another port of the same machine. It does not send
them to another folder. So all pages are in a folder with a secret name, the place; the cookie is for that folder alone,
and either is nothing without the other. Who may run has another place than those who watch.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

TOKEN_BYTES, PLACE_BYTES = 32, 16
READING = frozenset({"GET", "HEAD"})
HEADERS: Mapping[str, str] = {
    # No inline style or script, nothing of elsewhere: a name in a recorded page stays text whatever it contains.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Role(Enum):
    """What a browser may do. Who may run may also watch."""

    WATCH = "watch"
    RUN = "run"


@dataclass(slots=True)
class Access:
    """`hosts`: what the Host header may say, with the port. `used` is called when a link that holds once has been used:
    there is a new one."""

    hosts: frozenset[str]
    port: int
    scheme: str = "http"
    used: Callable[[], None] = lambda: None
    owner: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    watcher: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    places: Mapping[Role, str] = field(
        default_factory=lambda: {role: secrets.token_urlsafe(PLACE_BYTES) for role in Role}
    )
    _sessions: dict[str, Role] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        return f"lanelab-{self.port}"

    def link(self, role: Role) -> str:
        """Return where a browser comes in, below the server's address."""
        return f"{self.places[role]}/enter?token={self.owner if role is Role.RUN else self.watcher}"

    def at(self, place: str) -> Role | None:
        """Return whose place that is."""
        return next((role for role, name in self.places.items() if _same(place, name)), None)

    def enter(self, role: Role, token: str) -> str | None:
        """Return the value of the cookie for who comes to this role's place with its link; None for others."""
        if not _same(token, self.owner if role is Role.RUN else self.watcher):
            return None
        if role is Role.RUN:
            self.owner = secrets.token_urlsafe(TOKEN_BYTES)
            self.used()
        session = secrets.token_urlsafe(TOKEN_BYTES)
        self._sessions[session] = role
        return session

    def has_come_in(self, role: Role, session: str | None) -> bool:
        """Return whether that is the cookie of a browser that came in at this role's place."""
        return self._sessions.get(session or "") is role

    def is_ours(self, host: str | None) -> bool:
        """Return whether the request was meant for this server. A name that was made to lead here has another Host."""
        return host is not None and host.lower() in self.hosts

    def is_same_origin(self, headers: Mapping[str, str]) -> bool:
        """Return whether a page of ours asks. Browsers say so in Sec-Fetch-Site, older ones in Origin."""
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site == "same-origin"
        return headers.get("origin") == f"{self.scheme}://{headers.get('host', '').lower()}"


def _same(one: str, other: str) -> bool:
    """Compare in a time that does not say how much is right."""
    return secrets.compare_digest(one.encode(errors="surrogateescape"), other.encode())
