"""Numbers as people read them."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


def number(value: float | None, digits: int = 4, most_decimals: int | None = None) -> str:
    """Print a value with so many significant digits and no exponent; a dash where there is none.

    Digits before the point are all there, and zeros at the end of a fraction are not. There are at
    most ``most_decimals`` digits after the point, where that is given.
    """
    if value is None or math.isnan(value):
        return "-"
    if value == 0 or math.isinf(value):
        return f"{value:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals if most_decimals is None else min(decimals, most_decimals)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def at_least(value: float, decimals: int = 0) -> str:
    """Print a lower limit: rounded down, so that "or more" stays true."""
    return _rounded(value, decimals, ROUND_FLOOR)


def at_most(value: float, decimals: int = 0) -> str:
    """Print an upper limit: rounded up, so that "at most" stays true."""
    return _rounded(value, decimals, ROUND_CEILING)


def _rounded(value: float, decimals: int, how: str) -> str:
    # Of the number as it is written: 0.29 is not the least bit less.
    return str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), rounding=how))
