"""Who may see the page. Another page in the same browser, another program's cookie and another host's name may not.

A link with a token lets a browser in and gives it a cookie. The owner's link holds once: whoever finds it in a history
later has nothing. Cookies ignore ports, so the port is in the cookie's name.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

TOKEN_BYTES = 32
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
    _sessions: dict[str, Role] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        return f"lanelab-{self.port}"

    def enter(self, token: str) -> str | None:
        """Return the value of the cookie for who has this link; None for others."""
        role = None
        if secrets.compare_digest(token.encode(), self.owner.encode()):
            role, self.owner = Role.RUN, secrets.token_urlsafe(TOKEN_BYTES)
            self.used()
        elif secrets.compare_digest(token.encode(), self.watcher.encode()):
            role = Role.WATCH
        if role is None:
            return None
        session = secrets.token_urlsafe(TOKEN_BYTES)
        self._sessions[session] = role
        return session

    def role(self, session: str | None) -> Role | None:
        """Return what the browser with this cookie may do."""
        return self._sessions.get(session or "")

    def is_ours(self, host: str | None) -> bool:
        """Return whether the request was meant for this server. A name that was made to lead here has another Host."""
        return host is not None and host.lower() in self.hosts

    def is_same_origin(self, headers: Mapping[str, str]) -> bool:
        """Return whether a page of ours asks. Browsers say so in Sec-Fetch-Site, older ones in Origin."""
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site == "same-origin"
        return headers.get("origin") == f"{self.scheme}://{headers.get('host', '').lower()}"
