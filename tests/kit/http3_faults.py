"""What makes a browser fall back from HTTP/3 in silence, and what else an arm with it must not pass with: each made on
purpose, with the names under which the trial's own evidence has to find it. docs/reference/faults.md has them, too."""

from tests.kit.faults import CAPTURE, Fault, Spoil, on

SITE = "late-style-sheet"  # some of it is asked for only when an answer has come: a browser that was told then uses it
TLS = {"tls": "1.3", "server": "caddy"}
FORCED = {**TLS, "protocol": "h3"}
TOLD = {**FORCED, "h3_discovery": "alt-svc"}
RECORD = {**FORCED, "h3_discovery": "https-record", "dns": "resolver"}
FIREFOX = {"browser": "firefox"}
NO_UDP = "ip rule {verb} ipproto udp dport 443 blackhole"
WITNESSES = "browser, server's log, capture"
# In the place of Caddy's program stands one that changes its configuration first.
OTHER = """
mkdir -p /run/other && cp /usr/bin/caddy /run/other/caddy
cat > /run/other/program <<'END'
#!/bin/sh
for word; do case "$word" in */caddy.json) sed -zi 's/CHANGE/' "$word";; esac; done
exec /run/other/caddy "$@"
END
chmod +x /run/other/program && mount --bind /run/other/program /usr/bin/caddy
"""
AS_IT_WAS = (("server", "umount /usr/bin/caddy"),)


def caddy_that(change: str) -> Spoil:
    """Caddy with what a sed command makes of its configuration."""
    return on("server", OTHER.replace("CHANGE", change))


HTTP3_FAULTS = (
    Fault("UDP blocked", ("protocol-fallback",), WITNESSES, arm=RECORD, site=SITE, quick=True,
          spoil=on("router", NO_UDP.format(verb="add")), undo=(("router", NO_UDP.format(verb="del")),)),
    Fault("UDP blocked, where the browser knows nothing else", ("navigation-failed", "timeout"),
          "the browser", arm=FORCED, site=SITE, spoil=on("router", NO_UDP.format(verb="add")),
          undo=(("router", NO_UDP.format(verb="del")),)),
    Fault("Alt-Svc missing", ("protocol-fallback",), WITNESSES, arm=TOLD, site=SITE, quick=True,
          undo=AS_IT_WAS, before=caddy_that('"set": {[^{]*"Alt-Svc"[^]]*]\\s*}/"delete": ["Alt-Svc"]')),
    Fault("Alt-Svc with another ALPN", ("protocol-fallback",), WITNESSES, arm=TOLD, site=SITE,
          undo=AS_IT_WAS, before=caddy_that('h3=/h3-29=')),
    Fault("no HTTPS record", ("protocol-fallback",), WITNESSES, arm=RECORD, site=SITE,
          made_arm={"h3_discovery": "alt-svc"}),
    Fault("a server without HTTP/3", ("protocol-fallback",), WITNESSES, arm=FORCED, site=SITE,
          made_arm={"protocol": "h2"}),
    Fault("HTTP/3 where it is to be HTTP/2", ("protocol-fallback",), WITNESSES, arm={**TLS, "protocol": "h2"},
          made_arm={"protocol": "h3"}, site=SITE),
    Fault("no early data", ("early-data-ignored",), CAPTURE, arm={**FORCED, "early_data": True},
          made_arm={"early_data": False}, site=SITE),
    Fault("UDP blocked, in Firefox", ("protocol-fallback",), WITNESSES, arm={**RECORD, **FIREFOX}, site=SITE,
          spoil=on("router", NO_UDP.format(verb="add")), undo=(("router", NO_UDP.format(verb="del")),)),
    Fault("Alt-Svc missing, in Firefox", ("protocol-fallback",), WITNESSES, arm={**TOLD, **FIREFOX}, site=SITE,
          undo=AS_IT_WAS, before=caddy_that('"set": {[^{]*"Alt-Svc"[^]]*]\\s*}/"delete": ["Alt-Svc"]')),
    Fault("Alt-Svc with another ALPN, in Firefox", ("protocol-fallback",), WITNESSES, arm={**TOLD, **FIREFOX},
          site=SITE, undo=AS_IT_WAS, before=caddy_that('h3=/h3-29=')),
    Fault("a server without HTTP/3, in Firefox", ("protocol-fallback",), WITNESSES, arm={**FORCED, **FIREFOX},
          site=SITE, made_arm={"protocol": "h2"}),
    Fault("early data that nobody asked for", ("early-data-ignored",), CAPTURE, arm=FORCED,
          made_arm={"early_data": True}, site=SITE),
)  # fmt: skip
