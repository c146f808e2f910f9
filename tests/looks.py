"""How pages look, beside stored pictures of them."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCREENS = Path(__file__).parent / "screens"
HEIGHT = {1280: 900, 400: 800}
"""Heights of the two screens by width, in pixels."""
PART = 40
"""Side of the squares whose mean colours are compared, in pixels of the screen."""
LIKE = 3.0
"""Mean difference of the squares' colours, of 255, up to which pages look alike.

The same page differs by 0.4. Without the figures or bars, the contents' frame or the columns, or
with text a tenth larger, pages differ by 4 to 15; without the style by more.
"""


def assert_looks_as_before(page: Page, name: str) -> None:
    """Compare the top of a page with a stored picture, which ``UPDATE_SCREENS=1`` stores anew."""
    # Fonts differ between machines. Debian and matplotlib have this one.
    style = page.add_style_tag(content='* { font-family: "DejaVu Sans", sans-serif !important }')
    shot = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    style.evaluate("element => element.remove()")
    now = shot.crop((0, 0, shot.width, min(shot.height, 2400)))
    path = SCREENS / f"{name}.png"
    if os.environ.get("UPDATE_SCREENS"):
        small = now.resize((now.width // 4, now.height // 4), Image.Resampling.BOX)
        small.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(path, optimize=True)
    squares = (now.width // PART, now.height // PART)
    colours = [
        np.asarray(one.convert("RGB").resize(squares, Image.Resampling.BOX), dtype=float)
        for one in (now, Image.open(path))
    ]
    assert np.abs(colours[0] - colours[1]).mean() <= LIKE
