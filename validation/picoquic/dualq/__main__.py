"""``python -m validation.picoquic.dualq``: run all sequences, and store the tables.

``rfc9332.csv`` has the model, ``skywave.csv`` our queue, and ``dualq.csv`` picoquic's two builds,
if ``--picoquic`` names their directory (``run.sh``). ``as_model`` counts the packets of both
classes that have the fate and departure of the model with the rules of the program.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skywave import cli
from validation.picoquic.dualq import model
from validation.picoquic.dualq.sequences import RATES_MBPS, SEQUENCES, Arrival, Link, arrivals
from validation.picoquic.dualq.table import OURS, counts, program
from validation.tables import write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from validation.picoquic.dualq.model import Fate, Rules

HERE = Path(__file__).parent
PICOQUIC: tuple[Rules, Rules] = ("published", "corrected")

app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
def main(
    ours: Annotated[Path, typer.Argument(help="The example dualpi2_fates of skywave-path.")],
    picoquic: Annotated[
        Path | None, typer.Option(help="The directory of picoquic's programs.")
    ] = None,
) -> None:
    """Run all sequences through the programs and the model."""
    tables: dict[str, list[Mapping[str, object]]] = {"rfc9332": [], "skywave": []}
    if picoquic is not None:
        tables |= {rules: [] for rules in PICOQUIC}
    for mbps in RATES_MBPS:
        for name in SEQUENCES:
            packets = arrivals(name, Link(mbps))
            row = {"sequence": name, "rate_mbps": mbps}
            rfc = model.run(packets, mbps, "rfc9332")
            tables["rfc9332"] += _rows(row, packets, rfc, rfc)
            fates = program([ours], packets, mbps, *OURS)
            tables["skywave"] += _rows(row, packets, fates, rfc)
            for rules in PICOQUIC if picoquic else ():
                fates = program([f"{picoquic}/dualq_{rules}"], packets, mbps)
                alike = model.run(packets, mbps, rules)
                tables[rules] += _rows({"variant": rules, **row}, packets, fates, alike)
    for name in ("rfc9332", "skywave"):
        write(HERE / f"{name}.csv", tables[name])
    if picoquic is not None:
        write(HERE / "dualq.csv", [row for rules in PICOQUIC for row in tables[rules]])


def _rows(
    row: Mapping[str, object],
    packets: Sequence[Arrival],
    fates: Sequence[Fate],
    expected: Sequence[Fate],
) -> list[Mapping[str, object]]:
    same = sum(fate == other for fate, other in zip(fates, expected, strict=True))
    return [
        {**row, **counts(packets, fates, kind), "as_model": f"{same}/{len(packets)}"}
        for kind in "LC"
        if any(packet.kind == kind for packet in packets)
    ]


if __name__ == "__main__":
    cli.run(app)
