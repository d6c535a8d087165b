"""The preferences that Firefox is started with, beyond those that it comes with. Pure.

What decides how pages load (connections, priorities, caches, timeouts, speculation about the page's own hosts) stays as
users have it, unless the arm says otherwise. docs/reference/firefox.md says what each group is for."""

import json
from collections.abc import Mapping

from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.fields import BrowserSettings

Value = bool | int | str
HTTPS_PORT = 443

# Services of the browser itself: each asks its maker's servers something. Their names lead nowhere in any case
# (watch.js); this keeps them from being asked for, which costs processor time in the middle of a load.
SILENT: Mapping[str, Value] = {
    "app.normandy.enabled": False,
    "app.shield.optoutstudies.enabled": False,
    "app.update.auto": False,
    "app.update.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.aboutwelcome.enabled": False,
    "browser.contentblocking.report.hide_vpn_banner": True,
    "browser.discovery.enabled": False,
    "browser.ml.enable": False,
    "browser.newtabpage.activity-stream.asrouter.providers.cfr": "null",
    "browser.newtabpage.activity-stream.feeds.section.topstories": False,
    "browser.newtabpage.activity-stream.feeds.system.topsites": False,
    "browser.newtabpage.activity-stream.feeds.topsites": False,
    "browser.newtabpage.activity-stream.showSponsored": False,
    "browser.newtabpage.activity-stream.showSponsoredTopSites": False,
    "browser.newtabpage.enabled": False,
    "browser.ping-centre.telemetry": False,
    "browser.region.network.url": "",
    "browser.region.update.enabled": False,
    "browser.safebrowsing.blockedURIs.enabled": False,
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.safebrowsing.provider.google4.updateURL": "",
    "browser.safebrowsing.provider.google5.updateURL": "",
    "browser.safebrowsing.provider.mozilla.updateURL": "",
    "browser.safebrowsing.update.enabled": False,
    "browser.search.geoSpecificDefaults": False,
    "browser.search.update": False,
    "browser.topsites.contile.enabled": False,
    "browser.translations.enable": False,
    "browser.urlbar.quicksuggest.enabled": False,
    "browser.urlbar.suggest.searches": False,
    "captivedetect.canonicalURL": "",
    "datareporting.healthreport.uploadEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": False,
    "dom.push.serverURL": "",
    "extensions.blocklist.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.getAddons.discovery.api_url": "data:,",
    "extensions.pocket.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "extensions.update.enabled": False,
    "geo.provider.network.url": "",
    "identity.fxaccounts.enabled": False,
    "media.gmp-manager.updateEnabled": False,
    "media.gmp-manager.url": "data:,",
    "messaging-system.rsexperimentloader.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "nimbus.rollouts.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",  # heard only with MOZ_REMOTE_SETTINGS_DEVTOOLS
    "security.remote_settings.crlite_filters.enabled": False,
    "security.remote_settings.intermediates.enabled": False,
    "signon.management.page.breach-alerts.enabled": False,
    "signon.rememberSignons": False,
    "toolkit.telemetry.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "toolkit.telemetry.server": "data:,",
    "toolkit.telemetry.unified": False,
    "toolkit.telemetry.archive.enabled": False,
    "toolkit.telemetry.newProfilePing.enabled": False,
    "toolkit.telemetry.shutdownPingSender.enabled": False,
    "toolkit.telemetry.updatePing.enabled": False,
    "toolkit.telemetry.bhrPing.enabled": False,
}
# Start-up without questions, and nothing that begins by itself some time after it.
STEADY: Mapping[str, Value] = {
    "browser.chrome.site_icons": False,  # nobody sees a page's icon
    "browser.dom.window.dump.enabled": False,
    "browser.laterrun.enabled": False,
    "browser.rights.3.shown": True,
    "browser.sessionstore.resume_from_crash": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.blankWindow": False,
    "browser.startup.homepage": "about:blank",
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.page": 0,
    "browser.tabs.firefox-view": False,
    "browser.tabs.unloadOnLowMemory": False,
    "browser.tabs.warnOnClose": False,
    "browser.uitour.enabled": False,
    "browser.warnOnQuit": False,
    "devtools.jsonview.enabled": False,
    "dom.disable_open_during_load": True,
    "extensions.autoDisableScopes": 0,
    "extensions.enabledScopes": 0,
    "focusmanager.testmode": True,  # a page that is treated as in front of the user
    "idle.lastDailyNotification": -1,
    "intl.accept_languages": "en-US, en",  # else the machine's, and with it what a server is told to prefer
    "media.volume_scale": "0.0",
    "privacy.trackingprotection.enabled": False,  # its lists would come from its maker
    "privacy.trackingprotection.pbmode.enabled": False,
    "startup.homepage_welcome_url": "about:blank",
    "startup.homepage_welcome_url.additional": "",
    "termsofuse.bypassNotification": True,
    "toolkit.cosmeticAnimations.enabled": False,
    "toolkit.startup.max_resumed_crashes": -1,
    "ui.systemUsesDarkTheme": 0,
}
# Protocol decisions that are the experiment's: each would ask for something the arm did not.
DECIDED: Mapping[str, Value] = {
    "dom.security.https_first": False,  # would try https before the http that the arm wants
    "dom.security.https_first_schemeless": False,
    "dom.security.https_only_mode": False,
    "network.dns.disableIPv6": True,  # the link has none: half of the questions to a resolver would be for nothing
    "network.trr.mode": 5,  # a resolver is what the link says
    "network.dns.native_https_query": False,  # one more query and what its answer says
    "network.dns.upgrade_with_https_rr": False,
    "network.dns.use_https_rr_as_altsvc": False,
    "network.dns.echconfig.enabled": False,
    "network.http.http3.disable_when_third_party_roots_found": False,  # the run's own authority is one
    "network.proxy.type": 0,
    "security.OCSP.enabled": 0,  # the run's certificates name nobody who could be asked
    "security.OCSP.require": False,
    "security.cert_pinning.enforcement_level": 0,
    "security.pki.certificate_transparency.mode": 0,  # no log knows the run's certificates
    "security.certerrors.mitm.auto_enable_enterprise_roots": False,
}
# So that its own numbers are as exact as Chromium's: by default it rounds them to a millisecond.
EXACT: Mapping[str, Value] = {
    "privacy.reduceTimerPrecision": False,
    "privacy.resistFingerprinting.reduceTimerPrecision.jitter": False,
}


def prefs(arm: BrowserSettings, around: Surroundings) -> dict[str, Value]:
    """Return every preference that is set; those of the user win."""
    preferences: dict[str, Value] = {
        **SILENT,
        **STEADY,
        **DECIDED,
        **EXACT,
        **_names(around),
        **_protocols(arm, around),
    }
    if arm.via == "browser":
        preferences["network.http.max-persistent-connections-per-server"] = arm.connections_per_host
    if arm.user_agent is not None:
        preferences["general.useragent.override"] = arm.user_agent
    return {**preferences, **dict(map(read, arm.browser_flags))}


def _names(around: Surroundings) -> dict[str, Value]:
    """Return the preferences for names. Those of the site lead to their addresses by watch.js, every other one to
    nothing: not to a resolver either."""
    if around.dns == "instant":
        return {"network.dns.native-is-localhost": True}
    # A name in a link would be looked up ahead of use, which nothing else holds back.
    return {"network.dns.disablePrefetch": True, "network.dns.disablePrefetchFromHTTPS": True}


def _protocols(arm: BrowserSettings, around: Surroundings) -> dict[str, Value]:
    """What it offers to the site's servers, and to whom it speaks QUIC without having been told by the server."""
    if arm.protocol != "h3":
        return {"network.http.http3.enable": False, "network.http.http2.enabled": not around.without_h2}
    preferences: dict[str, Value] = {"network.http.http3.enable": True, "network.http.http2.enabled": True}
    if arm.h3_discovery != "alt-svc":  # else TCP races with QUIC after 0.1 s, which is less than many handshakes take
        preferences |= {
            "network.http.http3.backup_timer_delay": 0,
            "network.dns.httpssvc.http3_fast_fallback_timeout": 0,
        }
    if arm.h3_discovery == "forced":
        mapping = ",".join(f"{host};h3=:{HTTPS_PORT}" for host in around.hosts if host not in around.without_h3)
        preferences["network.http.http3.alt-svc-mapping-for-testing"] = mapping
    elif arm.h3_discovery == "https-record":
        names = ("native_https_query", "use_https_rr_as_altsvc")
        preferences |= {f"network.dns.{name}": True for name in names}
    return preferences


def read(written: str) -> tuple[str, Value]:
    """Return a preference as an arm writes it: `name=value`. `true`, `false` and whole numbers are such, all else is
    text."""
    name, _, text = written.partition("=")
    if text in ("true", "false"):
        return name, text == "true"
    return name, int(text) if text.lstrip("-").isdigit() else text


def user_js(chosen: Mapping[str, Value]) -> str:
    """Return the file of a profile from which they are read at each start."""
    return "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in chosen.items())


def listed(chosen: Mapping[str, Value]) -> tuple[str, ...]:
    """Return settings as the record has them."""
    return tuple(
        f"{name}={json.dumps(value) if not isinstance(value, str) else value}" for name, value in chosen.items()
    )
