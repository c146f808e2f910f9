"""Renders pages from templates, with contents and with the machine that made them."""

from __future__ import annotations

import base64
import os
import platform
import re
from collections.abc import Callable, Container, Mapping
from datetime import UTC, datetime
from html import unescape
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import Any

import jinja2

from skywave import _json
from skywave._printing import at_least, at_most, number

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
    page = templates(packages, filters).get_template(template)
    headings: dict[str, str] = {}

    def anchored(heading: re.Match[str]) -> str:
        title = re.sub(r"<[^>]+>", "", heading["text"]).strip()
        anchor = heading["id"] or _anchor(title, headings)
        headings[anchor] = title
        return f'<h2 id="{anchor}">{heading["text"]}</h2>'

    text = _HEADING.sub(anchored, page.render(environment=_environment(), **values))
    links = "".join(
        f'<li><a href="#{anchor}">{title}</a></li>' for anchor, title in headings.items()
    )
    contents = f'<nav class="contents" aria-label="Contents"><ul>{links}</ul></nav>'
    return text.replace(CONTENTS, contents if headings else "")


def templates(
    packages: str | tuple[str, ...], filters: Mapping[str, Callable[..., Any]] | None = None
) -> jinja2.Environment:
    """Return the templates of packages, and of this one."""
    names = (packages,) if isinstance(packages, str) else packages
    loaders = [jinja2.PackageLoader(name) for name in (*names, "skywave.report")]
    found = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"number": number, "at_least": at_least, "at_most": at_most}
    found.filters |= {"data_uri": _data_uri, **(filters or {})}
    return found


def _data_uri(svg: bytes) -> str:
    """Return an image for a self-contained page."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode("ascii")


def write(directory: Path, name: str, page: str, document: Any) -> None:
    """Write a page and its numbers into a directory, as ``NAME.html`` and ``NAME.json``."""
    (directory / f"{name}.html").write_text(page, encoding="utf-8")
    (directory / f"{name}.json").write_text(_json.text(document) + "\n", encoding="utf-8")


def _anchor(title: str, taken: Container[str]) -> str:
    """Return an id for a heading, made of its words."""
    words = "-".join(re.findall(r"[a-z0-9]+", unescape(title).lower())) or "section"
    numbered = (f"{words}-{number_}" for number_ in count(2))
    return next(anchor for anchor in chain([words], numbered) if anchor not in taken)


def _environment() -> dict[str, str]:
    """Return date, versions and machine, as text by name."""
    libraries = ("pyarrow", "numpy", "scipy", "matplotlib")
    system = f"{platform.system()} {platform.release()}"
    return {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "skywave": version("skywave"),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {system}",
        "Python": platform.python_version(),
        "libraries": ", ".join(f"{name} {version(name)}" for name in libraries),
    }


def _processor() -> str:
    try:
        about = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        about = ""
    found = re.search(r"^model name\s*:(.*)", about, re.MULTILINE)
    return found[1].strip() if found else platform.processor() or platform.machine()
