"""Quantities: what is read is what is printed, and nothing is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import PPB, Duration, Rate, Ratio, Size

Quantity = type[Duration] | type[Rate] | type[Size] | type[Ratio]


@given(st.integers(0, 10**15))
def test_printed_text_reads_back(amount: int) -> None:
    for kind in (Duration, Rate, Size):
        quantity = kind(amount)
        assert kind.parse(str(quantity)) == quantity


@given(st.integers(0, PPB))
def test_printed_ratio_reads_back(ppb: int) -> None:
    assert Ratio.parse(str(Ratio(ppb))) == Ratio(ppb)


@given(st.integers(1, 10**12))
def test_printing_is_canonical(amount: int) -> None:
    for kind in (Duration, Rate, Size):
        text = str(kind(amount))
        assert str(kind.parse(text)) == text


@given(st.text(max_size=80) | st.from_regex(r"-?[0-9]{1,4}[.,_e]?[0-9]{0,2} ?\D{0,4}", fullmatch=True))
def test_any_text_is_read_or_refused_with_its_key(text: str) -> None:
    for kind in (Duration, Rate, Size, Ratio):
        refused = refusal(kind, text)
        if refused:
            assert refused.key == "thing"
            assert refused.remedy
            assert "\n" not in str(refused)


def refusal(kind: Quantity, value: object) -> InputError | None:
    try:
        kind.parse(value, key="thing")
    except InputError as error:
        return error
    return None


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_a_rate_carries_what_it_has_time_for(bps: int, size: int) -> None:
    rate = Rate(bps)
    assert rate.carries(rate.time_for(Size(size))).bytes >= size


@pytest.mark.parametrize(
    ("kind", "text", "amount", "printed"),
    [
        (Duration, "20ms", 20_000_000, "20ms"),
        (Duration, " 1.5 s ", 1_500_000_000, "1.5s"),
        (Duration, "500us", 500_000, "500us"),
        (Duration, "100µs", 100_000, "100us"),
        (Duration, "100μs", 100_000, "100us"),
        (Duration, "20MS", 20_000_000, "20ms"),
        (Duration, "1000ms", 1_000_000_000, "1s"),
        (Duration, 0, 0, "0ms"),
        (Duration, "0", 0, "0ms"),
        (Rate, "1.5mbit", 1_500_000, "1.5mbit"),
        (Rate, "10Mbit/s", 10_000_000, "10mbit"),
        (Rate, "768 kbit", 768_000, "768kbit"),
        (Rate, "1.25MB/s", 10_000_000, "10mbit"),
        (Rate, "1gbit", 10**9, "1gbit"),
        (Rate, "8000bit", 8000, "8kbit"),
        (Size, "64kB", 64_000, "64kB"),
        (Size, "64KB", 64_000, "64kB"),
        (Size, "64KiB", 65_536, "64KiB"),
        (Size, "1500B", 1500, "1.5kB"),
        (Size, "1514B", 1514, "1514B"),
        (Size, "1MB", 10**6, "1MB"),
        (Ratio, "0.1%", PPB // 1000, "0.1%"),
        (Ratio, "100%", PPB, "100%"),
        (Ratio, 0, 0, "0%"),
    ],
)
def test_reads(kind: Quantity, text: object, amount: int, printed: str) -> None:
    assert kind.parse(text) == kind(amount)
    assert str(kind.parse(text)) == printed


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (Duration, 100, "100 has no unit. Write 100ms"),
        (Duration, "1.5", "1.5 has no unit. Write 1.5ms"),
        (Duration, "20mbit", "20mbit is a rate, not a duration"),
        (Duration, "5m", "5m can be read in two ways. Write 5ms (milliseconds) or 5s (seconds)"),
        (Duration, "20msec", "Did you mean 20ms? Units are ns, us, ms, s"),
        (Duration, "-20ms", "-20ms is negative"),
        (Duration, "\N{MINUS SIGN}20ms", "is negative"),
        (Duration, -20, "-20 is negative"),
        (Duration, "nan", "'nan' is not a duration"),
        (Duration, float("inf"), "'inf' is not a duration"),
        (Duration, float("nan"), "'nan' is not a duration"),
        (Duration, "", "it is empty"),
        (Duration, "  ", "it is empty"),
        (Duration, "1,000ms", "has a separator in its number"),
        (Duration, "1_000ms", "has a separator in its number"),
        (Duration, "1e3ms", "has an exponent"),
        (Duration, "1.5.5ms", "is not a duration"),
        (Duration, "\N{ARABIC-INDIC DIGIT THREE}ms", "is not a duration"),
        (Duration, "0.5ns", "finer than 1ns"),
        (Duration, True, "True is not a duration"),
        (Duration, None, "None is not a duration"),
        (Duration, "9" * 100, "longer than 64 characters"),
        (Rate, "10Mbps", "10Mbps can be read in two ways. Write 10mbit (bits per second) or 10MB/s (bytes per second)"),
        (Rate, "64kbps", "Write 64kbit (bits per second) or 64kB/s (bytes per second)"),
        (Rate, "10mb", "can be read in two ways"),
        (Rate, "10Mb/s", "can be read in two ways"),
        (Rate, "10M", "can be read in two ways"),
        (Rate, 10, "10 has no unit. Write 10mbit"),
        (Rate, "10ms", "10ms is a duration, not a rate"),
        (Rate, "10mbitt", "Did you mean 10mbit?"),
        (Size, "1500b", "Write 1500B (bytes)"),
        (Size, "64kb", "Write 64kB or 64KiB (bytes)"),
        (Size, "64K", "Write 64kB or 64KiB (bytes)"),
        (Size, "0.5B", "finer than 1B"),
        (Ratio, "101%", "101% is above 100%"),
        (Ratio, "0.001", "0.001 has no unit. Write 0.1% (as a fraction) or 0.001%"),
        (Ratio, 0.001, "0.001 has no unit"),
        (Ratio, 5, "5 has no unit. Write 5%"),
        (Ratio, "-1%", "-1% is negative"),
        (Ratio, "0.00000001%", "finer than 0.0000001%"),
    ],
)
def test_refuses(kind: Quantity, text: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        kind.parse(text, key="thing")
    assert message in str(error.value)
    assert error.value.key == "thing"


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    refused = refusal(Duration, 10**5000)
    assert refused
    assert "longer than 64 characters" in str(refused)


def test_a_quantity_cannot_be_made_negative() -> None:
    with pytest.raises(ValueError, match="negative"):
        Duration(1) - Duration(2)
    with pytest.raises(ValueError, match="above 100%"):
        Ratio(PPB + 1)
