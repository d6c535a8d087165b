"""Names of hosts as a site has them, and what stands for several: `*.ads.example` for every host below ads.example,
`default` for all others. Pure."""

import re

# Browsers, DNS and certificates take an underscore, and buckets and blogs have one. Names of other alphabets are
# written as browsers ask for them (xn--…).
_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
HOST = rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*"
ANY, DEFAULT = "*.", "default"
_PATTERN = re.compile(rf"(?:\*\.)?{HOST}")


def is_pattern(text: str) -> bool:
    """Return whether it may stand for hosts: a name, a name behind `*.`, or `default`."""
    return text == DEFAULT or _PATTERN.fullmatch(text) is not None


def matches(pattern: str, host: str) -> bool:
    """Return whether a pattern is of this host: *.ads.example is of every host below ads.example."""
    return host.endswith(pattern.removeprefix("*")) if pattern.startswith(ANY) else pattern == host
