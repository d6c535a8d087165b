"""The exact flags that Chromium is started with. Pure.

Every flag is ours: Chromium is started by us and not by ChromeDriver, nor by a distribution's wrapper, both of which
add some. docs/reference/browser.md says which of them were found necessary, and by what measurement.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.fields import USUAL_VIEWPORT, BrowserSettings

# Services of the browser itself: each asks its maker's servers something, some time after the start.
SILENT = (
    "--disable-background-networking",  # update checks, variations, safe browsing's lists, domain reliability
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",  # testing configurations of the source tree: not what users run
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-pings",
    "--safebrowsing-disable-auto-update",
)
# The same for what has no switch but a feature.
SILENT_FEATURES = (
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationGuideModelDownloading",
    "OptimizationHints",
    "OptimizationHintsFetching",
    "PasswordLeakDetection",
    "Translate",
)
# Protocol decisions that are the experiment's: each would ask for something the arm did not.
DECIDED_FEATURES = (
    "DnsOverHttpsUpgrade",  # a resolver is what the link says
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",  # would try https before the http that the arm wants
    "UseDnsHttpsSvcb",  # one more query and what its answer says
)
# What asks for HTTPS records: the browser's own resolver, which alone can, and what it does with the answer.
RECORD_FEATURES = ("AsyncDns", "UseDnsHttpsSvcb")
# Parts of the window that are web pages themselves and are loaded ahead of use: 0.6 s of processor time in the very
# half second in which a trial would begin.
IDLE_FEATURES = ("WebUIOmniboxAimPopup", "WebUIOmniboxPopup")
# Start-up without questions, and a page that is treated as in front of the user.
STEADY = (
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--test-type=webdriver",  # no bar over the page that warns of unusual flags
    "--disable-breakpad",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--mute-audio",
    "--lang=en-US",  # else the machine's, and with it what a server is told to prefer
    "--force-color-profile=srgb",
    # Frames of other sites in the page's own process: ChromeDriver logs no request of a frame that has another.
    "--disable-site-isolation-trials",
)
HTTPS_PORT, UNUSED_PORT = 443, 1
START_PAGE = "about:blank"  # the page for new tabs costs a process and 0.4 s of processor time
# Flags whose values are lists: the last one given would win, so they are joined.
JOINED = ("--disable-features", "--enable-features", "--disable-blink-features", "--enable-blink-features")


def resolver_rules(hosts: Mapping[str, str], dns: str) -> str:
    """Names of the site lead to their addresses, or are asked of the resolver; every other name does not exist, and
    nobody is asked. It is this, and no other flag, that keeps all of the browser's own requests off the link."""
    if dns == "instant":
        rules = [f"MAP {host} {address}" for host, address in hosts.items()]
    else:
        rules = [f"EXCLUDE {host}" for host in hosts]
    return ", ".join([*rules, "MAP * ~NOTFOUND"])


def flags(arm: BrowserSettings, around: Surroundings, profile: str) -> tuple[str, ...]:
    """Return every flag, in the order of the command line. `profile` is the folder of the user's data."""
    width, height = arm.viewport or USUAL_VIEWPORT
    wanted = set(RECORD_FEATURES if _asks_for_records(arm) else ())
    words = [
        *(["--headless=new"] if arm.display == "headless" else ["--window-position=0,0"]),
        f"--user-data-dir={profile}",
        "--remote-debugging-port=0",
        f"--window-size={width},{height}",
        *STEADY,
        *SILENT,
        "--disable-features=" + ",".join(sorted({*SILENT_FEATURES, *DECIDED_FEATURES, *IDLE_FEATURES} - wanted)),
        *_quic(arm, around),
    ]
    if around.without_h2:
        words.append("--disable-http2")
    if around.dns != "machine":
        words.append(f"--host-resolver-rules={resolver_rules(around.hosts, around.dns)}")
    if around.trusted:
        words.append(f"--ignore-certificate-errors-spki-list={','.join(around.trusted)}")
    if around.keys:
        words.append(f"--ssl-key-log-file={keys_file(profile)}")
    if around.netlog:
        words += [f"--log-net-log={netlog_file(profile)}", "--net-log-capture-mode=Default"]
    if arm.user_agent is not None:
        words.append(f"--user-agent={arm.user_agent}")
    return (*_join([*words, *arm.browser_flags]), START_PAGE)


def _asks_for_records(arm: BrowserSettings) -> bool:
    return arm.protocol == "h3" and arm.h3_discovery == "https-record"


def _quic(arm: BrowserSettings, around: Surroundings) -> Iterator[str]:
    """Yield the flags that say whether it speaks QUIC, and to whom without a word of the server. For other than public
    authorities Chromium looks at the names alone in that list: one with a port that nobody uses lets the certificate
    pass."""
    if arm.protocol != "h3":
        if not _asks_for_quic(arm.browser_flags):
            yield "--disable-quic"
        return
    yield "--enable-quic"
    # Connections later in a load would resume the session of its first and begin with requests: it has no other switch.
    yield "--force-fieldtrials=QUIC/Enabled"
    yield f"--force-fieldtrial-params=QUIC.Enabled:disable_tls_zero_rtt/{str(not arm.early_data).lower()}"
    port = HTTPS_PORT if arm.h3_discovery == "forced" else UNUSED_PORT
    yield "--origin-to-force-quic-on=" + ",".join(
        f"{host}:{port}" for host in around.hosts if host not in around.without_h3
    )
    if _asks_for_records(arm):
        yield "--enable-features=" + ",".join(RECORD_FEATURES)


def keys_file(profile: str) -> str:
    """Return the file of keys, which is beside the profile: Chromium makes that itself."""
    return f"{profile}.keys"


def netlog_file(profile: str) -> str:
    return f"{profile}.netlog"


def _asks_for_quic(words: Sequence[str]) -> bool:
    return any(flag == "--enable-quic" or flag.startswith("--origin-to-force-quic-on=") for flag in words)


def _join(words: Sequence[str]) -> tuple[str, ...]:
    """Join lists of features from us and from the user, where the first of them stood."""
    lists = {name: [flag.partition("=")[2] for flag in words if flag.startswith(f"{name}=")] for name in JOINED}
    written: set[str] = set()
    result: list[str] = []
    for flag in words:
        name = flag.partition("=")[0]
        if name not in lists:
            result.append(flag)
        elif name not in written:
            written.add(name)
            names = itertools.chain.from_iterable(part.split(",") for part in lists[name])
            result.append(f"{name}={','.join(dict.fromkeys(names))}")
    return tuple(result)
