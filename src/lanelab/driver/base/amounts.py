"""Numbers of things, lengths of time and amounts of data, as one would say them."""


def counted(number: int, noun: str, several: str = "") -> str:
    """Say 1 round or 2 rounds; `several`, where the noun alone does not say it: "trials are" for "trial is"."""
    return f"{number} {form_for(number, noun, several)}"


def form_for(number: float | None, one: str, several: str = "") -> str:
    """Return the word for a number of things, without the number: `one` or `several`."""
    return one if number == 1 else several or f"{one}s"


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def minutes(value: float) -> str:
    """Return a length of time, as one would say it."""
    whole = round(value)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min {whole % 60:02d} s" if whole < 600 else f"{round(whole / 60)} min"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(value: int) -> str:
    """Return an amount of data, to three digits."""
    number = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 999.5:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"


def from_to(least_s: float, most_s: float) -> str:
    """Return a length of time, or from which to which where it depends on the results."""
    return minutes(least_s) if minutes(least_s) == minutes(most_s) else f"{minutes(least_s)} to {minutes(most_s)}"
