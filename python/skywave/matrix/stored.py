"""Run the matrix with its defaults and store its table in the package.

The text of the page was written from that table. If a number changes, a test of the text fails,
and the text has to be reconsidered.
"""

from __future__ import annotations

from skywave import matrix
from skywave.matrix.table import STORED, Row
from skywave.report.tables import write

if __name__ == "__main__":
    table = matrix.run().rows
    write(STORED, Row, table, total=len(table))
