"""Pages from templates."""

from __future__ import annotations

from typing import Any

import jinja2


def render(template: str, *, package: str = "skywave.papers", **values: Any) -> str:
    """Render a template of a package; what it extends may stand beside those of the papers."""
    templates = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PackageLoader("skywave.papers")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["number"] = number
    return templates.get_template(template).render(**values)


def number(value: float | None, digits: int = 4) -> str:
    """Print a value with so many significant digits, or a dash where there is none."""
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.{digits}g}"
