"""What HTML says of attributes, as far as elide_attributes uses it: those whose value means nothing, and defaults."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Default:
    value: str
    html_5: bool = False  # only HTML 5 has it


_BOOLEAN = {
    "area": "nohref",
    "audio": "autoplay controls loop muted",
    "button": "autofocus disabled",
    "command": "checked disabled",
    "details": "open",
    "form": "novalidate",
    "frame": "noresize",
    "iframe": "seamless",
    "img": "ismap",
    "input": "autofocus checked defaultchecked disabled formnovalidate indeterminate multiple readonly required",
    "keygen": "autofocus disabled",
    "object": "declare",
    "ol": "reversed",
    "optgroup": "disabled",
    "option": "defaultselected disabled selected",
    "script": "async defer",
    "select": "autofocus disabled multiple required",
    "style": "scoped",
    "textarea": "autofocus disabled readonly required",
    "video": "autoplay controls loop muted",
}
BOOLEAN = frozenset((tag, name) for tag, names in _BOOLEAN.items() for name in names.split())

DEFAULTS = {
    ("a", "shape"): Default("rect"),
    ("area", "shape"): Default("rect"),
    ("col", "span"): Default("1"),
    ("colgroup", "span"): Default("1"),
    ("command", "type"): Default("command", html_5=True),
    ("form", "autocomplete"): Default("on", html_5=True),
    ("form", "enctype"): Default("application/x-www-form-urlencoded"),
    ("form", "method"): Default("get"),
    ("frame", "frameborder"): Default("1"),
    ("frame", "scrolling"): Default("auto"),
    ("iframe", "frameborder"): Default("1"),
    ("iframe", "scrolling"): Default("auto"),
    ("input", "type"): Default("text"),
    ("keygen", "keytype"): Default("rsa", html_5=True),
    ("menu", "type"): Default("list", html_5=True),
    ("param", "valuetype"): Default("data"),
    ("script", "language"): Default("javascript", html_5=True),
    ("script", "type"): Default("text/javascript", html_5=True),
    ("source", "media"): Default("all", html_5=True),
    ("style", "media"): Default("all", html_5=True),
    ("style", "type"): Default("text/css", html_5=True),
    ("td", "colspan"): Default("1"),
    ("td", "rowspan"): Default("1"),
    ("textarea", "wrap"): Default("soft", html_5=True),
    ("th", "colspan"): Default("1"),
    ("th", "rowspan"): Default("1"),
}
