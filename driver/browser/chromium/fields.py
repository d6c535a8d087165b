"""What Chromium adds to the settings of an arm."""

from __future__ import annotations

CONNECTIONS_PER_HOST = 6  # HTTP/1.1 connections that Chromium opens to one host at most; it has no switch for it
_OURS = "lanelab gives the browser its own"
_LED = "lanelab leads the browser through a port of its own"
_NAMES = "the site's names must lead to the server, and no other name anywhere"
_PROXY = "a proxy would stand between the browser and the link"
# Flags that a trial depends on, or that have a setting. No other list says which flags a user cannot give.
FLAGS_REFUSED = {
    "--user-agent": "the setting user_agent is for that",
    "--window-size": "the setting viewport is for that",
    "--headless": "the setting display is for that",
    "--user-data-dir": _OURS,
    "--remote-debugging-port": _LED,
    "--remote-debugging-pipe": _LED,
    "--remote-debugging-address": _LED,
    "--host-resolver-rules": _NAMES,
    "--host-rules": _NAMES,
    "--ssl-key-log-file": "the trial's keys are kept beside its capture",
    "--log-net-log": "the key netlog of the experiment is for that",
    "--ignore-certificate-errors-spki-list": "the run's own authority is what is trusted",
    "--proxy-server": _PROXY,
    "--proxy-pac-url": _PROXY,
    "--single-process": "a browser in one process has no sandbox and other timing",
}
