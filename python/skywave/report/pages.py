"""Renders pages from templates, with contents."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

import jinja2

from skywave._printing import at_least, at_most, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CONTENTS = "<!-- contents -->"
"""Where a page has the list of its sections."""
NEIGHBOURS = "<!-- neighbours -->"
"""Where a page has links to those before and after it, if it is one of several."""
_HEADING = re.compile(r'<h2(?: id="(?P<id>[^"]*)")?>(?P<text>.*?)</h2>', re.DOTALL)


def render(
    template: str,
    packages: str | tuple[str, ...],
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **values: Any,
) -> str:
    """Render a template of a package. It can extend and import the templates of this package.

    With several packages, the first that has a template is used. Every ``h2`` gets an ``id``;
    ``CONTENTS`` becomes a list of links to them.
    """
    text = templates(packages, filters).get_template(template).render(**values)
    headings: list[tuple[str, str]] = []

    def anchored(heading: re.Match[str]) -> str:
        title = re.sub(r"<[^>]+>", "", heading["text"]).strip()
        taken = {anchor for anchor, _ in headings}
        anchor = heading["id"] or _anchor(title, taken)
        headings.append((anchor, title))
        return f'<h2 id="{anchor}">{heading["text"]}</h2>'

    text = _HEADING.sub(anchored, text)
    links = "".join(f'<li><a href="#{anchor}">{title}</a></li>' for anchor, title in headings)
    contents = f'<nav class="contents" aria-label="Contents"><ul>{links}</ul></nav>'
    return text.replace(CONTENTS, contents if headings else "")


def templates(
    packages: str | tuple[str, ...], filters: Mapping[str, Callable[..., Any]] | None = None
) -> jinja2.Environment:
    """Return the templates of packages, and of this one."""
    names = (packages,) if isinstance(packages, str) else packages
    found = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(name) for name in (*names, "skywave.report")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"number": number, "at_least": at_least, "at_most": at_most}
    found.filters |= filters or {}
    return found


def _anchor(title: str, taken: set[str]) -> str:
    """Return an id for a heading, made of its words."""
    words = "-".join(re.findall(r"[a-z0-9]+", unescape(title).lower())) or "section"
    number_ = 2
    anchor = words
    while anchor in taken:
        anchor, number_ = f"{words}-{number_}", number_ + 1
    return anchor
