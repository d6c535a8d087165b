"""flatten_css_imports: what a style sheet imports takes the place of the import."""

from dataclasses import dataclass

from lanelab.driver.site.minify.addresses import Address
from lanelab.driver.site.minify.css.scan import Token, tokens, whole
from lanelab.driver.site.minify.css.sheets import moved, same_characters, without_bom
from lanelab.driver.site.minify.work import Work


@dataclass(frozen=True, slots=True)
class Import:
    address: str
    media: str
    end: int  # behind its semicolon


@dataclass(frozen=True, slots=True)
class Imports:
    """The head of a sheet: what it imports, and the charset that it says."""

    imports: tuple[Import, ...]
    charset: str
    end: int  # where the rest begins
    parsed: bool  # False: there is one that has more than an address and media


def flattened(work: Work, text: str, address: Address, charset: str) -> str:
    """All of its imports, or none: with one that cannot be had, another's rules would come too early."""
    whole_text = _expanded(work, text, address, charset, (address,))
    limit = work.wish.generation.css_flatten_bytes
    if whole_text is None or whole_text == text or (limit is not None and len(whole_text) > limit):
        return text
    work.note("flatten_css_imports", "its imports became part of it", len(text), len(whole_text), address)
    return whole_text


def _expanded(work: Work, text: str, address: Address, charset: str, chain: tuple[Address, ...]) -> str | None:
    """The text with what it imports; None: it cannot be done."""
    head = imports_of(text)
    if not head.imports:
        return text
    parts = []
    for each in head.imports:
        part = _imported(work, each, address, charset, chain) if head.parsed else None
        if part is None:
            return None
        parts.append(part)
    rule = f'@charset "{head.charset}";' if head.charset and len(chain) == 1 else ""
    return rule + "".join(parts) + text[head.end :]


def _imported(work: Work, each: Import, base: Address, charset: str, chain: tuple[Address, ...]) -> str | None:
    sheet = work.find(each.address, base)
    if sheet is None or not sheet.is_css or sheet.address in chain:
        return None
    text = without_bom(sheet.text)
    inner_charset = sheet.charset or imports_of(text).charset.lower()
    if not whole(text) or not same_characters(text, inner_charset, charset):
        return None
    inner = _expanded(work, text, sheet.address, charset, (*chain, sheet.address))
    if inner is None:
        return None
    rest = imports_of(inner)
    inner = moved(work, inner[rest.end :] if rest.charset else inner, sheet.address, chain[0])
    work.use(sheet)
    media = each.media.lower()
    if media in ("", "all"):
        return inner
    # What stands in @media already would need the part that both have.
    return None if "@" in inner or "(" in media else f"@media {each.media}{{{inner}}}"


def imports_of(text: str) -> Imports:
    """Find imports, which count at the beginning of a sheet only."""
    imports: list[Import] = []
    charset, end, parsed = "", 0, True
    statement: list[Token] = []
    for each in tokens(text):
        if each.kind in ("comment", "cdo") or (each.kind == "space" and not statement):
            continue
        statement.append(each)
        if statement[0].text.lower() not in ("@import", "@charset"):
            break
        if each.text != ";":
            continue
        if statement[0].text.lower() == "@charset":
            charset = next((token.address for token in statement if token.kind == "string"), "")
        else:
            statement_read = _import(statement)
            parsed = parsed and statement_read is not None
            imports += [statement_read] if statement_read else []
        end = each.end
        statement = []
    return Imports(tuple(imports), charset, end, parsed)


def _import(statement: list[Token]) -> Import | None:
    rest = [token for token in statement[1:-1] if token.kind != "space"]
    if not rest or rest[0].kind not in ("url", "string"):
        return None
    words = rest[1:]
    if any(token.kind != "word" and token.text != "," for token in words):
        return None
    media = " ".join(token.text for token in words).replace(" ,", ",").replace(", ", ",")
    return Import(rest[0].address, media, statement[-1].end)
