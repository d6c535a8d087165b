"""TCP's flags, and its sequence numbers and timestamps, which count modulo 2^32."""

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
NUMBERS = 0xFFFF_FFFF  # all of them, as a mask
HALF = 0x8000_0000  # a number that is less than this beyond another one comes after it


def signed(difference: int) -> int:
    """Return how far one number is after another; below 0 where it is before."""
    far = difference & NUMBERS
    return far - NUMBERS - 1 if far >= HALF else far
