"""Renders pages from templates, with contents, and links them to each other."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Any

import jinja2

from skywave.papers.cells import by_reason
from skywave._printing import at_least, at_most, number

if TYPE_CHECKING:
    from pathlib import Path

    from skywave.papers.reproduction import Citation

REPORT = "paper.html.j2"
"""The template of a paper's report, in its package's directory ``templates``."""
CONTENTS = "<!-- contents -->"
"""Where a page has the list of its sections."""
NEIGHBOURS = "<!-- neighbours -->"
"""Where a page has links to the front page and to the reports of other papers."""
_HEADING = re.compile(r'<h2(?: id="(?P<id>[^"]*)")?>(?P<text>.*?)</h2>', re.DOTALL)


def render(template: str, *, package: str = "skywave.papers", **values: Any) -> str:
    """Render a template of a package. It can extend and import the templates that papers share.

    Every ``h2`` gets an ``id``; ``CONTENTS`` becomes a list of links to them.
    """
    text = _templates(package).get_template(template).render(**values)
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


def link(report: Path, previous: Citation | None, following: Citation | None) -> None:
    """Link a paper's report to the front page above it, and to its neighbours' reports."""
    template = _templates("skywave.papers").get_template("neighbours.html.j2")
    links = template.render(previous=previous, following=following)
    text = report.read_text(encoding="utf-8").replace(NEIGHBOURS, links)
    report.write_text(text, encoding="utf-8")


def _templates(package: str) -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PackageLoader("skywave.papers")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "number": number,
        "at_least": at_least,
        "at_most": at_most,
        "by_reason": by_reason,
    }
    return templates


def _anchor(title: str, taken: set[str]) -> str:
    """Return an id for a heading, made of its words."""
    words = "-".join(re.findall(r"[a-z0-9]+", unescape(title).lower())) or "section"
    number_ = 2
    anchor = words
    while anchor in taken:
        anchor, number_ = f"{words}-{number_}", number_ + 1
    return anchor
