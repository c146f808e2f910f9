"""Renders pages from templates."""

from __future__ import annotations

from typing import Any

import jinja2

from skywave.printing import at_least, at_most, number

REPORT = "paper.html.j2"
"""The template of a paper's report, in its package's directory ``templates``."""


def render(template: str, *, package: str = "skywave.papers", **values: Any) -> str:
    """Render a template of a package. It can extend and import the templates that papers share."""
    templates = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PackageLoader("skywave.papers")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"number": number, "at_least": at_least, "at_most": at_most}
    return templates.get_template(template).render(**values)
