"""Arrow columns of Python's values.

pyarrow's own constructors import pandas if it is installed, which takes a second.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def strings(values: Collection[str]) -> pa.Array:
    """Return a column of texts."""
    import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables)

    texts = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    )


def floats(values: Collection[float | None]) -> pa.Array:
    """Return a column of floating-point numbers, null where there is None."""
    numbers = np.array([*values], np.float64)
    if None not in values:
        return _numbers(numbers)
    known = [value is not None for value in values]
    return _numbers(numbers, np.packbits(known, bitorder="little"))


def integers(values: Collection[int]) -> pa.Array:
    """Return a column of integers.

    Raises:
        OverflowError: If one has more than 64 bits.
    """
    return _numbers(np.array([*values], np.int64))


def column(values: list[Any]) -> pa.Array:
    """Return a column of values of one type."""
    import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables)

    known: dict[type, Callable[[list[Any]], pa.Array]]
    known = {str: strings, float: floats, int: integers}
    [kind] = {type(value) for value in values}
    return known.get(kind, pa.array)(values)


def _numbers(
    numbers: NDArray[np.float64] | NDArray[np.int64], validity: NDArray[np.uint8] | None = None
) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415  (loaded when there are tables)

    bits = None if validity is None else pa.py_buffer(validity)
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [bits, pa.py_buffer(numbers)])
