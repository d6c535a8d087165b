"""The page's head: add_head, combine_heads, convert_meta_tags."""

from lanelab.driver.site.minify.html.nodes import Node, StartTag, end_tag, start_tag
from lanelab.driver.site.minify.resources import PAGES
from lanelab.driver.site.minify.work import Work


def add_head(work: Work) -> None:
    """Add to the head; before the body, where no head comes first. A page with neither stays as it is."""
    first = next(work.page.elements("head", "body"), None)
    if first and first.tag.name == "body":
        work.page.edit({first.index: (start_tag("head"), end_tag("head"), first.tag)})
        size = len(work.page.written())
        work.note("add_head", "a head before the body", size - len("<head></head>"), size)


def combine_heads(work: Work) -> None:
    """What later heads hold moves to the end of the first one."""
    page = work.page
    heads = [each.index for each in page.elements("head")]
    ends = {index: page.end_of(index) for index in heads}
    first_end = ends[heads[0]] if heads else None
    if first_end is None or len(heads) < 2:
        return
    moved: list[Node] = []
    gone: set[int] = set()
    for index in heads[1:]:
        end = ends[index]
        if end is not None and index > first_end:
            moved += page.nodes[index + 1 : end]
            gone.update(range(index, end + 1))
    if gone:
        before = len(page.written())
        page.edit({**dict.fromkeys(gone, ()), first_end: (*moved, page.nodes[first_end])})
        work.note("combine_heads", f"{len(heads)} heads became one", before, len(page.written()))


def convert_meta_tags(work: Work) -> None:
    """The charset that a meta tag names goes into Content-Type, unless that has one. The tag stays."""
    kind, charset = _content_type(work)
    for each in work.page.elements("meta"):
        found_kind, meta = _type_and_charset(each.tag)
        if each.in_noscript or charset or not (meta or found_kind):
            continue
        if found_kind and found_kind not in PAGES:
            continue
        merged = kind or found_kind
        if not merged or not meta:
            continue
        charset, kind = meta, merged
        value = f"{kind}; charset={charset}"
        others = tuple((name, old) for name, old in work.headers if name.lower() != "content-type")
        work.headers = (("Content-Type", value), *others)
        size = len(work.page.written())
        work.note("convert_meta_tags", f"Content-Type: {value}", size, size)


def _content_type(work: Work) -> tuple[str, str]:
    value = next((value for name, value in work.headers if name.lower() == "content-type"), "")
    kind, _, rest = value.partition(";")
    _, _, charset = rest.partition("charset=")
    return kind.strip(), charset.strip()


def _type_and_charset(tag: StartTag) -> tuple[str, str]:
    """Return the media type and the charset that a meta tag says; "" for what it does not."""
    if (tag.get("http-equiv") or "").strip().lower() == "content-type":
        kind, _, rest = (tag.get("content") or "").partition(";")
        _, _, charset = rest.lower().partition("charset=")
        written = rest[len(rest) - len(charset) :] if charset else (tag.get("charset") or "")
        return kind.strip().lower(), written.strip(" \"'")
    if not tag.has("http-equiv") and tag.get("charset"):
        return "", (tag.get("charset") or "").strip()
    return "", ""
