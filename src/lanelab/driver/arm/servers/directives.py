"""An arm's own lines within the text of a configuration. Pure."""

BEGIN, END = "# server_directives of the arm", "# end of server_directives"


def marked(directives: tuple[str, ...]) -> list[str]:
    return [BEGIN, *directives, END] if directives else []


def directive_of(text: str, number: int) -> str | None:
    """Return the arm's own directive in line `number` of a configuration."""
    lines = [line.strip() for line in text.splitlines()]
    if BEGIN not in lines or not 1 <= number <= len(lines):
        return None
    inside = lines.index(BEGIN) + 1 < number < lines.index(END) + 1
    return lines[number - 1] if inside else None
