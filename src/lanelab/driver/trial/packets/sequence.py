"""TCP's sequence numbers and timestamps, which count modulo 2^32."""

NUMBERS = 0xFFFF_FFFF  # all of them, as a mask
HALF = 0x8000_0000  # a number that is less than this beyond another one comes after it


def signed(difference: int) -> int:
    """Return how far one number is after another; below 0 where it is before."""
    far = difference & NUMBERS
    return far - NUMBERS - 1 if far >= HALF else far
