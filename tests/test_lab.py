"""``skywave lab``: the command, the built page, and runs on it in a real browser."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from playwright.sync_api import expect

from conftest import ROOT, assert_bad_input, run_cli, serving
from lab import (
    RATE_LINE,
    SCREENS,
    SERIES,
    TEXT,
    assert_fits_and_is_named,
    drawn,
    needs_chromium,
    on_screen,
    plot,
    run_to_the_end,
)
from looks import HEIGHT, assert_looks_as_before
from patience import PATIENCE_S
from skywave import _core
from skywave.lab.choices import FIRST
from skywave.lab.site import STATIC

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page


def test_a_wrong_scenario_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(TEXT.replace("2 Mbps", "2 Mbit"))
    assert_bad_input(run_cli("lab", file, "--no-browser"), "dumbbell.rate")


@pytest.mark.parametrize("command", ["lab", "listen", "send"])
def test_help_names_the_extra(command: str) -> None:
    assert "skywave[lab]" in run_cli(command, "--help").stdout


@pytest.mark.parametrize("missing", ["starlette.responses", "uvicorn"])
def test_without_the_extra_one_line_says_so(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("server", "site", "connections"):
        monkeypatch.delitem(sys.modules, f"skywave.lab.{name}", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    message = (
        "error: the page of skywave lab needs the extra skywave[lab]: install a wheel with it, "
        'as in pip install "$(echo dist/skywave-*.whl)[lab]" (docs/start.md)\n'
    )
    for command in (("lab",), ("listen", "5001", "--udp-port", "0", "--watch")):
        done = run_cli(*command, "--no-browser")
        assert_bad_input(done)
        assert done.stderr == message


def test_the_command_prints_an_address_that_opens() -> None:
    with serving("lab", "--port", "0", "--no-browser", says="is at") as (process, said):
        with httpx2.Client(follow_redirects=True) as client:
            assert "Skywave laboratory" in client.get(said.split()[-1]).text
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_S) == 130
        assert process.stderr is not None
        assert process.stderr.read() == "interrupted\n"


def test_the_built_page_is_current() -> None:
    """What is in the package was built from what is in lab/ (make lab builds it)."""
    lab = ROOT / "lab"
    names = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"]
    names += sorted(f"src/{path.name}" for path in (lab / "src").iterdir())
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\n".encode() + (lab / name).read_bytes() + b"\n")
    assert (STATIC / "sources.sha256").read_text().strip() == digest.hexdigest(), "run make lab"
    assert sum(path.stat().st_size for path in STATIC.iterdir()) < 700_000


@needs_chromium
def test_a_knob_is_turned_and_the_curve_moves(lab_opened: Page) -> None:
    lab_opened.get_by_label("Pace").select_option("")
    lab_opened.get_by_role("button", name="Run", exact=True).click()
    expect(lab_opened.locator(".state")).to_contain_text("Ended")
    chart = lab_opened.locator("[data-panel=goodput] [role=img]")
    expect(chart).to_have_attribute("aria-label", re.compile(r"tcp: [\d.]+, dccp: [\d.]+"))
    before = drawn(lab_opened, "goodput")
    slider = lab_opened.get_by_role("slider", name="Rate")
    slider.focus()
    for _ in range(12):
        slider.press("ArrowRight")
    expect(lab_opened.locator(".cm-content")).not_to_contain_text('rate = "2 Mbps"')
    expect(lab_opened.locator(".state")).to_contain_text("Ended")
    lab_opened.wait_for_function(
        "before => document.querySelector('[data-panel=goodput] canvas')?.toDataURL() != before",
        arg=before,
    )


@needs_chromium
def test_a_knob_of_the_next_run_leaves_the_last_one_alone(lab_opened: Page) -> None:
    sent: list[dict[str, Any]] = []

    def keep(message: str | bytes) -> None:
        sent.append(json.loads(message))

    lab_opened.on("websocket", lambda socket: socket.on("framesent", keep))
    lab_opened.reload()
    slider = lab_opened.get_by_role("slider", name="Rate")
    lab_opened.get_by_label("Pace").select_option("")
    lab_opened.get_by_role("button", name="Run", exact=True).click()
    expect(lab_opened.locator(".state")).to_contain_text("Ended")
    # The page checks a scenario a quarter of a second after it is shown.
    lab_opened.evaluate("new Promise(resolve => setTimeout(resolve, 300))")
    for clock, types in (
        ("real_time", ["turn", "check"]),
        ("simulated", ["turn", "check", "change"]),
    ):
        lab_opened.get_by_label("Clock").select_option(clock)
        text = lab_opened.locator(".cm-content").text_content()
        sent.clear()
        slider.press("ArrowRight")
        expect(lab_opened.locator(".cm-content")).not_to_have_text(text or "")
        assert [one["type"] for one in sent] == types


@needs_chromium
def test_a_sender_without_a_window_has_no_curve(lab_opened: Page) -> None:
    lab_opened.get_by_label("Pace").select_option("")
    lab_opened.get_by_role("button", name="Run", exact=True).click()
    expect(lab_opened.locator("[data-panel=cwnd] [role=img]")).to_have_attribute(
        "aria-label", re.compile(r"tcp: [\d.]+, dccp: none")
    )


@needs_chromium
def test_a_flow_has_a_window_from_its_start_on(lab_opened: Page) -> None:
    late = re.sub(r"^(to = .*)$", r'\1\nstart = "5 s"', TEXT, flags=re.MULTILINE)
    run_to_the_end(lab_opened, late)
    names, begins = lab_opened.evaluate(
        """() => {
            const {times, names, values} = skywaveLab.runs.get('a').charts.series('cwnd')
            const first = one => times[one.findIndex(value => value !== null)] ?? null
            return [names, values.map(first)]
        }"""
    )
    begin = dict(zip(names, begins, strict=True))
    assert 5 < begin["tcp"] < 5.3
    assert begin["dccp"] is None, "CCID 3 has no window, nor has a flow before it starts"


@needs_chromium
def test_a_lone_sample_does_not_flatten_the_others(lab_opened: Page) -> None:
    """A repaired loss delivers 2 s of data in one sample."""
    run_to_the_end(lab_opened, FIRST.replace("60 s", "20 s"))
    most, at, times = lab_opened.evaluate(
        f"""() => {{
            const tcp = {SERIES}.values[{SERIES}.names.indexOf('tcp')]
            const most = Math.max(...tcp)
            return [most, tcp.indexOf(most), {SERIES}.times]
        }}"""
    )
    assert most > 30
    assert 4 < lab_opened.evaluate(f"{plot('goodput')}.scales.y.max") < 6
    over = lab_opened.locator("[data-panel=goodput] .u-over")
    left = lab_opened.evaluate(f"at => {plot('goodput')}.valToPos(at, 'x')", times[at])
    over.hover(position={"x": left, "y": 50})
    legend = lab_opened.locator("[data-panel=goodput] .u-legend")
    expect(legend).to_contain_text(f"{most:.4g}")


@needs_chromium
def test_spikes_of_one_flow_do_not_squeeze_the_others(lab_opened: Page) -> None:
    """The largest of 4,800 samples of eight flows is 15.8 Mbps; of most flows, 3 Mbps or so."""
    run_to_the_end(lab_opened, (ROOT / "examples" / "red.toml").read_text())
    most = lab_opened.evaluate(f"Math.max(...{SERIES}.values.flat())")
    assert lab_opened.evaluate(f"{plot('goodput')}.scales.y.max") < most / 2


@needs_chromium
@pytest.mark.parametrize("width", [1280, 400])
def test_charts_are_seen_without_scrolling(lab_browser: Browser, address: str, width: int) -> None:
    with on_screen(lab_browser, address, (width, HEIGHT[width]), "light") as page:
        figures = page.locator("figure")
        expect(page.get_by_text("Press Run, or r")).to_be_visible()
        expect(figures.first).to_be_hidden()
        expect(page.locator(".cm-content")).to_be_hidden()
        run_to_the_end(page, (ROOT / "examples" / "red.toml").read_text())
        expect(page.get_by_text("Press Run, or r")).to_be_hidden()
        boxes = [box for box in (figure.bounding_box() for figure in figures.all()) if box]
        assert boxes[0]["y"] < 0.45 * HEIGHT[width]
        seen = sum(box["y"] + box["height"] <= HEIGHT[width] for box in boxes)
        assert seen >= (6 if width > 900 else 1)


@needs_chromium
def test_an_error_in_the_text_unfolds_it(lab_opened: Page) -> None:
    wrong = TEXT.replace("2 Mbps", "2 Mbpits")
    lab_opened.evaluate("text => { skywaveLab.runs.get('a').text = text }", wrong)
    expect(lab_opened.locator(".cm-lintRange-error")).to_be_visible()


@needs_chromium
def test_a_legend_has_values_while_there_is_a_pointer(lab_opened: Page) -> None:
    run_to_the_end(lab_opened)
    legend = lab_opened.locator("[data-panel=goodput] .u-legend")
    over = lab_opened.locator("[data-panel=goodput] .u-over")
    time = legend.get_by_text("time")
    expect(time).to_be_hidden()
    assert re.fullmatch(r"tcp\s*:?\s*dccp\s*:?\s*", legend.inner_text())
    height = legend.bounding_box()
    over.hover(position={"x": 100, "y": 50})
    expect(time).to_be_visible()
    expect(legend).to_contain_text(re.compile(r"tcp\s*\d"))
    assert legend.bounding_box() == height, "nothing below it moves"
    lab_opened.mouse.move(5, 5)
    expect(time).to_be_hidden()


@needs_chromium
def test_two_runs_have_the_same_ranges(lab_opened: Page) -> None:
    lab_opened.get_by_role("button", name="Two runs").click()
    run_to_the_end(lab_opened, TEXT.replace("packets = 20", "packets = 5"), "a")
    alone = lab_opened.evaluate(f"{plot('cwnd')}.scales.y.max")
    run_to_the_end(lab_opened, TEXT.replace("packets = 20", "packets = 100"), "b")
    for panel in ("cwnd", "delay", "drops"):
        for axis in ("x", "y"):
            ends = [f"{plot(panel, run)}.scales.{axis}.max" for run in "ab"]
            assert lab_opened.evaluate(ends[0]) == lab_opened.evaluate(ends[1])
    assert lab_opened.evaluate(f"{plot('cwnd')}.scales.y.max") > 1.5 * alone
    lab_opened.get_by_role("button", name="Two runs").click()
    lab_opened.wait_for_function(f"alone => {plot('cwnd')}.scales.y.max === alone", arg=alone)


@needs_chromium
def test_rates_have_the_unit_of_scenarios(lab_opened: Page) -> None:
    slider = lab_opened.get_by_role("slider", name="Rate")
    expect(slider).to_have_attribute("aria-valuetext", "2 Mbps")
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "125 kbps")
    expect(lab_opened.locator("[data-panel=goodput] figcaption")).to_have_text("Goodput (Mbps)")


@needs_chromium
def test_a_chart_says_what_it_shows(lab_opened: Page) -> None:
    inner = "{ weight = 1, queue = { codel = { packets = 20 } } }"
    queues = f"queue = {{ weighted = {{ queues = [{inner}] }} }}"
    text = re.sub("^queue = .*$", queues, TEXT, flags=re.MULTILINE)
    run_to_the_end(lab_opened, text.replace("{ tcp = {} }", '{ tcp = { control = "cubic" } }'))
    captions = lab_opened.locator("figcaption")
    expect(captions.filter(has_text="CUBIC: how long")).to_contain_text("K (s)")
    expect(captions.filter(has_text="otherwise 0")).to_contain_text("Sub-queue 0: Dropping")
    window = lab_opened.locator("[data-panel=cwnd] figcaption")
    expect(window).to_have_attribute("title", re.compile("^Congestion window at the sample"))


def test_all_inner_values_are_described() -> None:
    examples = [
        (ROOT / "examples" / f"{name}.toml").read_text()
        for name in ("codel-ecn", "mpcp", "red", "tcp-flavours", "vcp")
    ]
    others = [TEXT.replace("drop-tail", queue) for queue in ("pie", "fq-codel")]
    described = (ROOT / "lab" / "src" / "inner.ts").read_text()
    for text in (*examples, *others):
        run = _core.SteppedRun(text)
        run.advance(12.0)
        samples = run.samples()
        names = {
            name.rpartition(".")[2]
            for table in ("controls", "queues")
            if table in samples
            for name in samples[table].column("name").to_pylist()
        }
        assert names
        assert [name for name in names if f" {name}: inner(" not in described] == []


@needs_chromium
def test_an_error_of_the_last_run_is_not_said_of_the_next(
    lab_opened: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skywave.lab.server.refusal", lambda: None)
    monkeypatch.setattr("skywave.lab.real_time.refusal", lambda: "no namespaces here")
    lab_opened.reload()
    expect(lab_opened.get_by_role("slider", name="Rate")).to_be_visible()
    alert = lab_opened.get_by_role("alert")
    for clock in ("real_time", "simulated"):
        lab_opened.get_by_label("Clock").select_option(clock)
        lab_opened.get_by_role("button", name="Run", exact=True).click()
        if clock == "real_time":
            expect(alert).to_have_text("no namespaces here")
    expect(lab_opened.locator(".state")).to_contain_text("Running")
    expect(alert).to_be_hidden()


@needs_chromium
def test_an_error_is_shown_at_its_line(lab_opened: Page) -> None:
    lab_opened.get_by_text("Scenario as text").click()
    line = lab_opened.locator(".cm-line", has_text='rate = "2 Mbps"').first
    line.click()
    lab_opened.keyboard.press("End")
    lab_opened.keyboard.press("Backspace")
    lab_opened.keyboard.press("Backspace")
    lab_opened.keyboard.type('it"')
    alert = lab_opened.get_by_role("alert")
    expect(alert).to_contain_text(f"line {RATE_LINE}: dumbbell.rate")
    marked = lab_opened.locator(".cm-line", has=lab_opened.locator(".cm-lintRange-error"))
    expect(marked).to_contain_text("Mbpit")
    for _ in range(3):
        lab_opened.keyboard.press("Backspace")
    lab_opened.keyboard.type('s"')
    expect(alert).to_be_hidden()


@needs_chromium
def test_keys_play_pause_step_and_stop(lab_opened: Page) -> None:
    state = lab_opened.locator(".state")
    lab_opened.locator("h1").click()
    lab_opened.keyboard.press("r")
    expect(state).to_contain_text("Running")
    lab_opened.keyboard.press("Space")
    expect(state).to_contain_text("Paused")
    before = state.text_content()
    # The first step may end at 0.30 s what was paused at 0.29 s, and both are 0.3 s here.
    lab_opened.keyboard.press(".")
    lab_opened.keyboard.press(".")
    expect(state).not_to_have_text(before or "")
    lab_opened.keyboard.press("s")
    expect(state).to_contain_text("Stopped")


@needs_chromium
def test_the_keyboard_completes_keys_of_the_schema(lab_opened: Page) -> None:
    lab_opened.get_by_text("Scenario as text").click()
    lab_opened.locator(".cm-line", has_text='rate = "2 Mbps"').first.click()
    lab_opened.keyboard.press("End")
    lab_opened.keyboard.press("Enter")
    lab_opened.keyboard.type("jit")
    expect(lab_opened.locator(".cm-tooltip-autocomplete")).to_contain_text("jitter")


@needs_chromium
def test_two_runs_and_a_link_to_both(lab_opened: Page, lab_browser: Browser, address: str) -> None:
    lab_opened.get_by_role("button", name="Two runs").click()
    expect(lab_opened.locator("section.run")).to_have_count(2)
    for index in range(2):
        run_ = lab_opened.locator("section.run").nth(index)
        run_.get_by_label("Pace").select_option("")
        run_.get_by_role("button", name="Run", exact=True).click()
        expect(run_.locator(".state")).to_contain_text("Ended")
    lab_opened.get_by_role("button", name="Copy link").click()
    lab_opened.wait_for_function("location.hash.includes('|')")
    fragment = lab_opened.evaluate("location.hash")
    assert "token" not in lab_opened.url
    context = lab_browser.new_context()
    other = context.new_page()
    other.goto(address + fragment)
    expect(other.locator("section.run")).to_have_count(2)
    expect(other.locator(".cm-content").nth(1)).to_contain_text('name = "short"')
    context.close()


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_a_run_looks_as_before(lab_browser: Browser, address: str, width: int, scheme: str) -> None:
    with on_screen(lab_browser, address, (width, HEIGHT[width]), scheme) as page:
        expect(page.get_by_role("slider", name="Rate")).to_be_visible(visible=width > 900)
        expect(page.locator(".scenarios option").first).to_be_attached()
        page.get_by_label("Pace").select_option("")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.locator(".state")).to_contain_text("Ended")
        # What was last drawn is described.
        page.wait_for_function(f"() => {SERIES}.times.length === 200")
        chart = page.locator("[data-panel=goodput] [role=img]")
        expect(chart).to_have_attribute("aria-label", re.compile("tcp: .*dccp: "))
        assert_fits_and_is_named(page, width)
        assert_looks_as_before(page, f"lab-{width}-{scheme}")


MANY = 20
"""Series, of the requirement that no frame is dropped."""


@needs_chromium
def test_twenty_series_arrive_whole(lab_opened: Page) -> None:
    """50 samples a second of 20 flows: every frame is taken and drawn."""
    flows = "".join(
        f'[[flows]]\nname = "f{index}"\nfrom = "s{index}"\nto = "d{index}"\n'
        "transport = { tcp = {} }\nsource = { ftp = {} }\n"
        for index in range(1, MANY + 1)
    )
    head = TEXT[: TEXT.index("[[flows]]")].replace("pairs = 2", f"pairs = {MANY}")
    text = head.replace("20 s", "4 s") + flows + '[probes]\ninterval = "20 ms"\n'
    lab_opened.evaluate("text => { skywaveLab.runs.get('a').text = text }", text)
    lab_opened.get_by_label("Pace").select_option("1")
    began = time.monotonic()
    lab_opened.get_by_role("button", name="Run", exact=True).click()
    expect(lab_opened.locator(".state")).to_contain_text("Ended", timeout=30_000)
    took = time.monotonic() - began
    samples, names = lab_opened.evaluate(
        """() => {
            const series = skywaveLab.runs.get('a').charts.series('goodput')
            return [series.times.length, series.names.length]
        }"""
    )
    assert (samples, names) == (4 * 50, MANY)
    frames, draws = lab_opened.evaluate(
        "() => { const {frames, draws} = skywaveLab.runs.get('a'); return [frames, draws] }"
    )
    # It is not asserted, since it depends on the machine: docs/lab.md has what was measured.
    print(f"{frames} frames received and {draws} pictures drawn in {took:.1f} s")  # noqa: T201
