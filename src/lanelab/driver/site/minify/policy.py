"""What a page's Content-Security-Policy forbids a filter to put into it. The browser would refuse that, and the page
would be another one."""

from collections.abc import Iterable, Mapping

from lanelab.driver.site.minify.html.page import Page
from lanelab.driver.site.site import Headers

NAME = "content-security-policy"
Directives = Mapping[str, frozenset[str]]
HASHES = ("'sha256-", "'sha384-", "'sha512-")
# By kind of content: where its sources are, the first that is there.
SCRIPTS, STYLES, EVAL, IMAGES = (
    ("script-src-elem", "script-src", "default-src"),
    ("style-src-elem", "style-src", "default-src"),
    ("script-src", "default-src"),
    ("img-src", "default-src"),
)
WITH_SCRIPT = (
    *("inline_javascript", "combine_javascript", "defer_javascript", "lazyload_images"),
    *("inline_preview_images", "prioritize_critical_css"),
)
WITH_STYLE = ("inline_css", "prioritize_critical_css")
WITH_IMAGE = ("inline_images", "lazyload_images", "inline_preview_images")
WITH_EVAL = ("combine_javascript", "defer_javascript")


def forbidden(headers: Headers, page: Page) -> frozenset[str]:
    """The filters that this page's policies do not let do their work."""
    return frozenset(name for policy in _policies(headers, page) for name in _forbidden_by(policy))


def _policies(headers: Headers, page: Page) -> Iterable[Directives]:
    written = [value for name, value in headers if name.lower() == NAME]
    metas = (each.tag for each in page.elements("meta"))
    written += [tag.get("content") or "" for tag in metas if (tag.get("http-equiv") or "").strip().lower() == NAME]
    return (_directives(policy) for value in written for policy in value.split(","))


def _directives(policy: str) -> Directives:
    directives: dict[str, frozenset[str]] = {}
    for directive in policy.split(";"):
        name, *sources = directive.lower().split() or [""]
        directives.setdefault(name, frozenset(sources))  # the first of a name counts
    return directives


def _forbidden_by(policy: Directives) -> Iterable[str]:
    scripts, styles, evaluated, images = (_sources(policy, kind) for kind in (SCRIPTS, STYLES, EVAL, IMAGES))
    yield from WITH_SCRIPT if not _takes_inline(scripts) else ()
    yield from WITH_STYLE if not _takes_inline(styles) else ()
    yield from WITH_EVAL if evaluated is not None and "'unsafe-eval'" not in evaluated else ()
    yield from WITH_IMAGE if images is not None and "data:" not in images else ()
    # What is there is named by its hash.
    yield from ("rewrite_javascript_inline",) if _names_hashes(scripts) else ()
    yield from ("rewrite_css",) if _names_hashes(styles) else ()


def _sources(policy: Directives, names: Iterable[str]) -> frozenset[str] | None:
    """None: everything is allowed."""
    return next((policy[name] for name in names if name in policy), None)


def _takes_inline(sources: frozenset[str] | None) -> bool:
    """A nonce or a hash makes a browser ignore 'unsafe-inline'."""
    if sources is None:
        return True
    named = any(each.startswith("'nonce-") for each in sources) or "'strict-dynamic'" in sources
    return "'unsafe-inline'" in sources and not named and not _names_hashes(sources)


def _names_hashes(sources: frozenset[str] | None) -> bool:
    return any(each.startswith(HASHES) for each in sources or ())
