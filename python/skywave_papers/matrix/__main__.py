"""Run the matrix with its defaults and store its table here.

If a number of the advice changes, a test fails, and the text has to be reconsidered.
"""

from __future__ import annotations

from pathlib import Path

from skywave import matrix
from skywave.matrix.report import STORED
from skywave.matrix.table import Row
from skywave.report.tables import write

if __name__ == "__main__":
    table = matrix.run().rows
    write(Path(__file__).with_name(STORED), Row, table, total=len(table))
