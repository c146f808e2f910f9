"""How commands are declared: functions whose parameters are their arguments and options."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from skywave._core import Duration, Rate
from skywave.cli import status

QUANTITIES = {Duration: "DURATION", Rate: "RATE"}
"""Types of options that are text with a unit, and what the help calls their values."""

Function = TypeVar("Function", bound=Callable[..., None])


def print_help(context: typer.Context) -> None:
    """Print the help of a group that is given no command."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def group(name: str, about: str) -> typer.Typer:
    """Return a group of commands, which prints its help if none of them is given."""
    app = typer.Typer(name=name, help=about, invoke_without_command=True)
    app.callback()(print_help)
    return app


def command(
    app: typer.Typer, name: str | None = None, *, fails: str | None = None, strict: bool = False
) -> Callable[[Function], Function]:
    """Return a decorator that adds a function to ``app`` as a command.

    A parameter may be a quantity. A parameter that is a dataclass stands for the options that are
    its fields. ``fails`` says what status 1 of the command means; with ``strict`` it has status 3.
    """

    def add(function: Function) -> Function:
        app.command(name, epilog=status.of_command(fails, strict=strict))(_with_plain(function))
        return function

    return add


class _Option(NamedTuple):
    """A parameter as typer takes it, and the quantity that its text is."""

    parameter: Parameter
    quantity: Callable[[str], Any] | None
    flag: str

    def value(self, given: Any) -> Any:
        if self.quantity is None or given is None:
            return given
        try:
            found = self.quantity(given)
        except ValueError as error:
            raise typer.BadParameter(f"{self.flag}: {error}") from error
        if isinstance(found, Rate) and not found.bps:
            raise typer.BadParameter(f'{self.flag} is "{given}": give a rate above 0')
        return found


def _with_plain(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that takes each option by itself, and quantities as text."""
    options: list[_Option] = []
    bundles: dict[str, tuple[type, list[str]]] = {}
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in signature(function).parameters.items():
        bundle = hints[name]
        if not is_dataclass(bundle):
            options.append(_option(name, bundle, parameter.default))
            continue
        assert isinstance(bundle, type)  # noqa: S101  (a type hint is no instance)
        inside = get_type_hints(bundle, include_extras=True)
        bundles[name] = (bundle, [field.name for field in fields(bundle)])
        for field in fields(bundle):
            default = Parameter.empty if field.default is MISSING else field.default
            options.append(_option(field.name, inside[field.name], default))

    @wraps(function)
    def plain(**given: Any) -> None:
        values = {one.parameter.name: one.value(given[one.parameter.name]) for one in options}
        for name, (bundle, names) in bundles.items():
            values[name] = bundle(**{field: values.pop(field) for field in names})
        function(**values)

    parameters = [one.parameter for one in options]
    plain.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    plain.__annotations__ = {one.name: one.annotation for one in parameters}
    return plain


def _option(name: str, hint: Any, default: Any) -> _Option:
    base, *more = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    [quantity] = [each for each in (base, *get_args(base)) if each in QUANTITIES] or [None]
    info = next((each for each in more if isinstance(each, OptionInfo)), None)
    flag = f"--{name.replace('_', '-')}"
    if quantity is not None and info is not None:
        info = copy(info)
        info.metavar = QUANTITIES[quantity]
        if isinstance(info.default, str):
            flag = info.default
        hint = Annotated[str if base is quantity else str | None, info]
        default = str(default) if isinstance(default, (Duration, Rate)) else default
    parameter = Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
    return _Option(parameter, quantity, flag)
