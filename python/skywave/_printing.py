"""Numbers as text for readers."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

DIGITS = 4
"""Significant digits of a value that has no margin to say how many count."""
MOST_DIGITS = 7
"""The most significant digits of a mean with a margin: nobody reads more."""
ROUNDING = 1e-13
"""What sums of floating-point numbers may differ by, as a share of them."""


def number(value: float | None, digits: int = DIGITS, most_decimals: int | None = None) -> str:
    """Return a value with ``digits`` significant digits and no exponent, or "-" if it has none.

    Digits before the decimal point are never rounded away, and trailing zeros after it are dropped.
    ``most_decimals`` limits the digits after it.
    """
    if value is None or math.isnan(value):
        return "-"
    if value == 0 or math.isinf(value):
        return f"{value:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals if most_decimals is None else min(decimals, most_decimals)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_margin(mean: float, margin: float) -> str:
    """Return a mean as precise as its margin, which has one digit, or two that begin with 1.

    The mean has at most :data:`MOST_DIGITS` significant digits; a smaller margin is rounded up to
    the last of them. One that comes from the rounding of floating-point numbers is 0.
    """
    if margin <= abs(mean) * ROUNDING:
        return f"{number(mean, DIGITS)}±0"
    exponent = math.floor(math.log10(margin))
    decimals = max(0, -exponent + (margin < 2 * 10**exponent))
    if mean != 0:
        most = max(0, MOST_DIGITS - 1 - math.floor(math.log10(abs(mean))))
        if decimals > most:
            return f"{mean:.{most}f}±{at_most(margin, most)}"
    return f"{mean:.{decimals}f}±{margin:.{decimals}f}"


def at_least(value: float, decimals: int = 0) -> str:
    """Return a lower limit as text, rounded down so that "or more" stays true."""
    return _rounded(value, decimals, ROUND_FLOOR)


def at_most(value: float, decimals: int = 0) -> str:
    """Return an upper limit as text, rounded up so that "at most" stays true."""
    return _rounded(value, decimals, ROUND_CEILING)


def _rounded(value: float, decimals: int, how: str) -> str:
    # Round the number as printed: 0.29 must not become 0.28 because of its binary representation.
    return str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), rounding=how))
