"""The pages in a real browser: at two widths, in light and dark, every page of a reproduction."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

from conftest import Reproduced, run_cli
from looks import HEIGHT, assert_looks_as_before
from skywave.papers import front
from skywave.papers.installed import all_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from playwright.sync_api import Browser, Page

    from skywave.papers.front import Work
    from skywave.papers.reproduction import Reproduction

    Scheme = Literal["light", "dark"]

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"
)
MATRIX = "matrix/matrix.html"
PAGES = ["report.html", *(f"{key}/report.html" for key in all_keys()), MATRIX]
LEGIBLE_PX = 8.5


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, reproduced: Callable[..., Reproduced]) -> Path:
    """All papers, as other tests reproduce them but for seeds, and a small matrix."""

    def copy(works: Sequence[Work], _: object) -> dict[str, Reproduction]:
        found = {}
        for work in works:
            of_paper = reproduced(work.key, seeds=2 if work.key == "chen2010" else None)
            shutil.copytree(of_paper.directory, work.directory)
            found[work.key] = of_paper.brief
        return found

    directory = tmp_path_factory.mktemp("site") / "all"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front, "reproduce_each", copy)
        front.reproduce_all(directory, live_ns2=False)
    chosen = ["--control", "tcp-vcp", "--control", "ccid3", "--network", "lien2009"]
    short = ["--seeds", 1, "--duration", "60 s", "--out", directory / "matrix"]
    assert run_cli("matrix", *chosen, *short).returncode == 0
    return directory


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        yield started
        started.close()


class Opened(NamedTuple):
    """A page, and the addresses that it asked for."""

    page: Page
    requests: list[str]


@pytest.fixture(scope="module")
def on_screen(browser: Browser, site: Path, request: pytest.FixtureRequest) -> Iterator[Opened]:
    """Open the page of the parameters: its name, the screen's width, light or dark.

    It is opened once: pytest runs all tests with the same parameters one after another.
    """
    name, width, scheme = request.param
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHT[width]}, color_scheme=scheme
    )
    page = context.new_page()
    requests: list[str] = []
    page.on("request", lambda one: requests.append(one.url))
    page.goto((site / name).as_uri())
    yield Opened(page, requests)
    context.close()


@pytest.fixture
def opened(on_screen: Opened) -> Opened:
    """The page at its top, where pictures of it may have left it elsewhere."""
    on_screen.page.evaluate("scrollTo(0, 0)")
    return on_screen


def on(*screens: tuple[int, Scheme], pages: list[str] = PAGES) -> pytest.MarkDecorator:
    """Give a test each page on each screen."""
    parameters = [(page, width, scheme) for page in pages for width, scheme in screens]
    names = [
        f"{Path(page).parent.name or 'front'}-{width}-{scheme}"
        for page, width, scheme in parameters
    ]
    return pytest.mark.parametrize("on_screen", parameters, ids=names, indirect=True)


@on((1280, "light"), (400, "light"), (400, "dark"))
def test_nothing_is_beside_the_screen(opened: Opened) -> None:
    """The page does not scroll sideways, and links can be seen without that.

    What is in a table that scrolls by itself, or in a closed section, need not be.
    """
    page, _ = opened
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    links: list[dict[str, Any]] = page.evaluate(
        """[...document.links].filter(link => !link.closest('.wide, details')).map(link => {
            const {left, right, height} = link.getBoundingClientRect()
            return {text: link.textContent, left, right, height}
        })"""
    )
    assert links
    for link in links:
        assert link["left"] >= 0, link
        assert link["right"] <= width, link
        assert link["height"] > 0, link


@on((1280, "light"))
def test_every_table_is_seen_whole_or_scrolls_by_itself(opened: Opened) -> None:
    tables: list[list[float]] = opened.page.evaluate(
        """[...document.querySelectorAll('table')].map(table => {
            const place = table.closest('.wide')
            return place ? [place.getBoundingClientRect().right, place.clientWidth] : [0, 0]
        })"""
    )
    assert all(0 < right <= 1280 and width > 900 for right, width in tables)


@on((1280, "light"))
def test_every_link_leads_somewhere_and_nothing_is_loaded(opened: Opened, site: Path) -> None:
    page, requests = opened
    for asked in requests:
        assert urlsplit(asked).scheme in ("file", "data"), asked
    assert "http" not in "".join(re.findall(r"(?:src|srcset)=\"([^\"]{,99})", page.content()))
    assert "@import" not in page.content()
    assert not page.locator("link, script, iframe").count()
    targets: list[str] = page.evaluate("[...document.links].map(link => link.href)")
    for target in map(urlsplit, targets):
        if target.scheme != "file":
            assert target.scheme == "https", target
            continue
        file = Path(unquote(target.path))
        assert file.is_relative_to(site)
        assert file.is_file(), target
        if target.fragment:
            assert f'id="{unquote(target.fragment)}"' in file.read_text(encoding="utf-8"), target


def test_each_report_leads_to_the_front_page_and_its_neighbours(site: Path) -> None:
    keys = all_keys()
    for place, key in enumerate(keys):
        page = (site / key / "report.html").read_text(encoding="utf-8")
        links = re.findall(r'href="\.\./([^"]+)"', page)
        around = [*keys[max(0, place - 1) : place], *keys[place + 1 : place + 2]]
        expected = ["report.html", *(f"{other}/report.html" for other in around)]
        assert links == 2 * expected, "above and below the text"


REPORTS = [page for page in PAGES if page not in {"report.html", MATRIX}]


@on((1280, "light"), (400, "light"), pages=["report.html", *REPORTS])
def test_counts_are_above_figures(opened: Opened) -> None:
    counts, figure = (
        opened.page.locator(one).first.bounding_box() for one in (".score dt", "figure")
    )
    assert counts
    assert figure
    assert counts["y"] + counts["height"] < figure["y"]


@on((1280, "light"), pages=REPORTS)
def test_what_does_not_match_has_its_reason_at_the_top(opened: Opened, site: Path) -> None:
    page, _ = opened
    report = site / urlsplit(page.url).path.split("/")[-2] / "report.json"
    judged = json.loads(report.read_text(encoding="utf-8"))
    missed = {
        one["id"]: one["why"]
        for one in (*judged["cells"], *judged["claims"])
        if one["verdict"] == "mismatch"
    }
    found: list[list[str]] = page.evaluate(
        """[...document.querySelectorAll('.reasons dd a')].map(link => [
            decodeURIComponent(link.hash).replace('#value/', ''),
            link.closest('dd').previousElementSibling.textContent])"""
    )
    assert dict(found) == missed
    last, contents = (page.locator(one).last.bounding_box() for one in (".reasons", ".contents"))
    assert last
    assert contents
    assert last["y"] < contents["y"]


@on((1280, "light"), pages=REPORTS)
def test_the_id_of_a_value_leads_to_its_row(opened: Opened) -> None:
    """So does the beginning of several, to the first; in code, and in sentences."""
    loose: list[str] = opened.page.evaluate(
        """(() => {
            const rows = [...document.querySelectorAll('.cells tr[id]')].map(row => row.id)
            const isId = text => rows.some(id => (id + '/').startsWith('value/' + text + '/'))
            const codes = [...document.querySelectorAll('code')]
                .filter(code => isId(code.textContent) && !code.closest('a'))
                .map(code => code.textContent)
            const words = [...document.querySelectorAll('p, td, dt, dd')]
                .flatMap(one => [...one.childNodes])
                .filter(node => node.nodeType === Node.TEXT_NODE)
                .flatMap(node => node.textContent.match(/[\\w.=-]+(\\/[\\w.=-]*\\w)+/g) ?? [])
            return [...codes, ...words.filter(isId)]
        })()"""
    )
    assert opened.page.locator(".cells tr[id]").count()
    assert not loose


@on((400, "light"))
def test_verdicts_are_seen_without_scrolling(opened: Opened) -> None:
    rights: list[float] = opened.page.evaluate(
        "[...document.querySelectorAll('.badge')].map(one => one.getBoundingClientRect().right)"
    )
    assert max(rights, default=0) <= 400


MOST_ROW_PX = 600
"""The highest row of a table on a telephone: three quarters of the screen."""


@on((400, "light"))
def test_no_row_of_a_table_is_longer_than_the_screen(opened: Opened) -> None:
    """What is in a closed section does not count."""
    rows: list[list[Any]] = opened.page.evaluate(
        """[...document.querySelectorAll('tr')].map(row => [
            row.getBoundingClientRect().height, row.textContent.trim().slice(0, 60)])"""
    )
    for height, row in rows:
        assert height <= MOST_ROW_PX, row


MOST_EMPTY_IN = 0.27
"""The most that may be empty above what a figure shows: less than two lines."""


@on((1280, "light"), (400, "light"))
def test_figures_have_no_empty_band_above(opened: Opened) -> None:
    for image in opened.page.locator("figure img").all():
        source = image.evaluate("one => one.currentSrc")
        svg = base64.b64decode(source.partition("base64,")[2]).decode()
        width_pt = re.search(r'width="([\d.]+)pt"', svg)
        assert width_pt
        shown = np.asarray(Image.open(io.BytesIO(image.screenshot())).convert("L"))
        # The corners are round, and the page may show there.
        inner = shown[:, 10:-10]
        empty_px = int(np.argmax(inner.min(axis=1) < 200))
        assert empty_px * float(width_pt[1]) / 72 / shown.shape[1] <= MOST_EMPTY_IN


@on((400, "light"))
def test_labels_of_figures_are_legible_on_a_telephone(opened: Opened) -> None:
    """By the font sizes in the figure, and the width in which it is shown."""
    shown: list[list[Any]] = opened.page.evaluate(
        "[...document.images].map(one => [one.currentSrc, one.getBoundingClientRect().width])"
    )
    assert shown
    for source, width_px in shown:
        svg = base64.b64decode(source.partition("base64,")[2]).decode()
        sizes = re.findall(r"translate\([^)]*\)(?: rotate\([^)]*\))? scale\(([\d.]+) -", svg)
        width_pt = re.search(r'width="([\d.]+)pt"', svg)
        assert sizes
        assert width_pt
        # Matplotlib draws text of 100 pt, and scales it.
        smallest_px = 100 * min(map(float, sizes)) * width_px / float(width_pt[1])
        assert smallest_px >= LEGIBLE_PX, svg[:400]


IN_FIGURES = """what => {
    function collide(svg, labels) {
        const isApart = (a, b) => a.right + 1 < b.left || a.bottom + 1 < b.top
        return labels.flatMap((one, index) => labels.slice(index + 1)
            .filter(other => !isApart(one.box, other.box) && !isApart(other.box, one.box))
            .map(other => [one.text, other.text]))
    }

    function strike(svg, labels) {
        const isIn = (point, box) => point.x > box.left && point.x < box.right
            && point.y > box.top && point.y < box.bottom
        return [...svg.querySelectorAll('g[id^=axes_]')].flatMap(axes => {
            const frame = axes.querySelector('g[id^=patch_]').getBoundingClientRect()
            const lines = [...axes.querySelectorAll(':scope > g[id^=line2d_] > path')]
            const points = lines.flatMap(along).filter(point => isIn(point, frame))
            const struck = one => one.isInLegend && points.some(point => isIn(point, one.box))
            return labels.filter(struck).map(one => one.text)
        })
    }

    function along(line) {
        const onScreen = pair =>
            new DOMPoint(...pair.split(' ').map(Number)).matrixTransform(line.getScreenCTM())
        const corners = line.getAttribute('d').match(/[\\d.-]+ [\\d.-]+/g).map(onScreen)
        return corners.slice(1).flatMap((to, index) => {
            const {x, y} = corners[index]
            const steps = Math.ceil(Math.hypot(to.x - x, to.y - y))
            return Array.from({length: steps}, (_, step) =>
                ({x: x + (to.x - x) * step / steps, y: y + (to.y - y) * step / steps}))
        })
    }

    return [...document.querySelectorAll('figure img')].flatMap(image => {
        const text = atob(image.currentSrc.split('base64,')[1])
        const svg = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement
        const place = document.body.appendChild(document.createElement('div'))
        place.append(document.adoptNode(svg))
        // Matplotlib draws text as paths, after a comment that says which. The box of text at an
        // angle is mostly empty.
        const labels = [...svg.querySelectorAll('g[id^=text_]')]
            .filter(one => !one.innerHTML.includes('rotate('))
            .map(one => ({
                text: one.innerHTML.match(/<!-- (.*?) -->/)?.[1],
                isInLegend: one.closest('g[id^=legend]') !== null,
                box: one.getBoundingClientRect()}))
        const found = ({collide, strike})[what](svg, labels)
        place.remove()
        return found
    })
}"""


@on((1280, "light"), (400, "light"))
def test_labels_of_figures_are_a_pixel_apart(opened: Opened) -> None:
    assert opened.page.evaluate(IN_FIGURES, "collide") == []


@on((1280, "light"), (400, "light"))
def test_no_line_of_a_figure_strikes_its_legend(opened: Opened) -> None:
    assert opened.page.evaluate(IN_FIGURES, "strike") == []


@on((1280, "light"), (400, "light"), pages=["nor2011/report.html"])
def test_narrow_screens_have_figures_of_their_own(
    opened: Opened, request: pytest.FixtureRequest
) -> None:
    own: list[bool] = opened.page.evaluate(
        "[...document.images].map(one => one.currentSrc != one.src)"
    )
    assert own
    assert set(own) == {"400" in request.node.callspec.id}


def contrast(ink: str, paper: str) -> float:
    """Return the contrast ratio of two CSS colours (WCAG 2.2): 1 to 21."""

    def luminance(colour: str) -> float:
        parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    darker, lighter = sorted((luminance(ink), luminance(paper)))
    return (lighter + 0.05) / (darker + 0.05)


@on((400, "light"), (400, "dark"), pages=["report.html", "nor2011/report.html", MATRIX])
def test_text_has_contrast(opened: Opened, request: pytest.FixtureRequest) -> None:
    """Of 4.5 at least (WCAG 2.2, AA). In the dark, the page is dark."""
    page, _ = opened
    colours: list[list[str]] = page.evaluate(
        """[...document.querySelectorAll('body, a, small, figcaption, dt, td, .badge, pre, footer')]
            .map(one => {
                let place = one
                while (place && /, 0\\)$|transparent/.test(getComputedStyle(place).backgroundColor))
                    place = place.parentElement
                return [getComputedStyle(one).color, getComputedStyle(place).backgroundColor]
            })"""
    )
    assert colours
    for ink, paper in colours:
        assert contrast(ink, paper) >= 4.5, (ink, paper)
    is_dark = contrast(colours[0][1], "rgb(0, 0, 0)") < 2
    assert is_dark == ("dark" in request.node.name)


@on((1280, "light"), (1280, "dark"), (400, "light"), (400, "dark"), pages=["report.html"])
def test_the_front_page_looks_as_before(opened: Opened, request: pytest.FixtureRequest) -> None:
    assert_looks_as_before(opened.page, request.node.callspec.id)


@on((1280, "light"), (400, "light"), pages=["nor2011/report.html"])
def test_a_report_looks_as_before(opened: Opened, request: pytest.FixtureRequest) -> None:
    assert_looks_as_before(opened.page, request.node.callspec.id)
