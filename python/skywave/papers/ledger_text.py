"""Reads the text of a ledger into typed classes, with errors that name the line."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass
from numbers import Real
from typing import Any, TypeVar, get_origin

import cattrs

from skywave.papers.cells import Cause
from skywave.papers.entries import Parameter, Scalar
from skywave.papers.errors import LedgerError
from skywave.scenario.experiment import line_and_column

_T = TypeVar("_T")
_SEE = "docs/papers.md lists all keys"
_CAUSES = {
    cause.name.lower().replace("_", "-"): cause for cause in Cause if cause is not Cause.UNKNOWN
}
"""Causes by their names in a ledger; unknown is what has no reason."""


@dataclass(frozen=True)
class LedgerText:
    """A ledger's text, and the name of its file in errors."""

    text: str
    source: str

    def structured(self, kind: type[_T]) -> _T:
        """Return the text's contents as a dataclass, which keeps the text as its ``origin``."""
        try:
            document = tomllib.loads(self.text)
            # Each is named by its own line here; cattrs has one line for all.
            known = {one.name for one in fields(kind)} - {"origin"}  # type: ignore[arg-type]
            if unknown := sorted(set(document) - known):
                raise self.error((name, f"a ledger has no {name}: {_SEE}") for name in unknown)
            return _CONVERTER.structure({**document, "origin": self}, kind)
        except tomllib.TOMLDecodeError as error:
            raise LedgerError(f"{self.source}: {error}") from None
        except RecursionError:
            raise LedgerError(f"{self.source}: lists or tables are nested too deeply") from None
        except cattrs.BaseValidationError as error:
            apart = [one.rpartition(" @ $") for one in cattrs.transform_error(error, "$", _why)]
            raise self.error((at.lstrip("."), why) for why, _, at in apart) from None

    def error(self, faults: Iterable[tuple[str, str]]) -> LedgerError:
        """Return the error that lists faults, each with its field."""
        lines = []
        for place, why in faults:
            found = line_and_column(self.text, place)
            at = self.source if found is None else f"{self.source}, line {found[0]}"
            lines.append(": ".join(filter(None, (at, place, why))))
        return LedgerError("\n".join(lines))


def is_finite(value: object) -> bool:
    """Return whether a value is a number, and neither infinite nor NaN."""
    return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)


def _why(error: BaseException, kind: Any) -> str:
    """Return the fault of a field."""
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        return f"it has no {' and no '.join(sorted(error.extra_fields))}: {_SEE}"
    if isinstance(error, ValueError):
        # Ours say what to do.
        return str(error)
    if isinstance(error, AttributeError) or (isinstance(error, TypeError) and is_dataclass(kind)):
        return "expected a table"
    return cattrs.v.format_exception(error, kind)


def _scalar(value: object, _: type) -> Scalar:
    if isinstance(value, str) or (isinstance(value, int | float) and is_finite(value)):
        return value
    raise ValueError(f"{value!r} is neither a text nor a finite number")


def _text(value: object, _: type) -> str:
    """Return a text, whose lines may be broken anywhere, as one line."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text: put it in quotation marks")
    return " ".join(value.split())


def _whole(value: object, _: type) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _cause(value: object, _: type) -> Cause:
    if not isinstance(value, str) or value not in _CAUSES:
        raise ValueError(f"expected one of {', '.join(_CAUSES)}")
    return _CAUSES[value]


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _list(value: object, kind: Any) -> tuple[Any, ...]:
    # A text or a table has elements too, but not those that are meant.
    if not isinstance(value, list):
        raise ValueError("write it as a list, in [brackets]")
    found: tuple[Any, ...] = _read_elements(value, kind)
    return found


_CONVERTER = cattrs.Converter(forbid_extra_keys=True)
_read_elements = _CONVERTER._structure_tuple  # noqa: SLF001  (no public name has it)
_CONVERTER.register_structure_hook_func(lambda kind: kind == Scalar, _scalar)
_CONVERTER.register_structure_hook_func(_is_tuple, _list)
_CONVERTER.register_structure_hook(str, _text)
_CONVERTER.register_structure_hook(int, _whole)
_CONVERTER.register_structure_hook(Cause, _cause)
_CONVERTER.register_structure_hook(
    Parameter, lambda row, _: Parameter(*_CONVERTER.structure(row, tuple[str, str, str]))
)
_CONVERTER.register_structure_hook(LedgerText, lambda text, _: text)
