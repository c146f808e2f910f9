"""``skywave/net/config.py``: the configurations of connections and endpoints, from the core."""

from __future__ import annotations

import json
import re
from pathlib import Path

from skywave import _core
from tools.definitions import Schema
from tools.python_classes import Writer, formatted

PATH = Path(__file__).parent.parent / "python" / "skywave" / "net" / "config.py"
CONFIG = "Config"
ENDPOINT = "EndpointConfig"
LINK = re.compile(r"\[(`[^`]+`)\]\([^)\s]*\)")
"""A link of rustdoc, which leads nowhere from Python."""
HEAD = '''"""The configurations of a connection and of an endpoint.

Written by ``make schema`` from the core's types and their documentation: do not edit.

Creating one raises ``ValueError`` with the first field that is wrong.
"""

from __future__ import annotations

from os import PathLike  # noqa: TC003 - Part reads the types of fields

from attrs import converters, field, frozen

from skywave import _core
from skywave.control import Control
from skywave.scenario.quantities import Bytes, Duration
from skywave.scenario.part import Part, naming_fields
from skywave.scenario.parts import PARTS


class Checked(Part):
    """Options that are checked when they are created, rather than when they are used."""

    def __attrs_post_init__(self) -> None:
        """Check them.

        Raises:
            ValueError: If one is wrong. The text names it.
        """
        _core.check_config(self)


'''


def text() -> str:
    """Return what the file must hold."""
    connection = Schema(json.loads(_core.socket_schema()))
    endpoint = Schema(json.loads(LINK.sub(r"\1", _core.endpoint_schema())))
    classes = "\n\n".join(
        (
            Writer(connection, "Checked").part(connection.parts[CONFIG]),
            Writer(endpoint, "Checked").part(endpoint.parts[ENDPOINT]),
        )
    )
    parts = ", ".join(name for name in connection.parts if f": {name} " in classes)
    return formatted(HEAD.replace("PARTS", parts) + classes, PATH)
