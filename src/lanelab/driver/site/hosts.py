"""Names of hosts as a site has them."""

# Browsers, DNS and certificates take an underscore, and buckets and blogs have one. Names of other alphabets are
# written as browsers ask for them (xn--…).
_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
HOST = rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*"
