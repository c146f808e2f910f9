"""Run the matrix by its defaults, and store its table in the package.

The text of the page was written from that table: where a number of it changes, a test of the text
fails, and somebody has to judge anew.
"""

from __future__ import annotations

from skywave import matrix
from skywave.matrix.table import rows, store

if __name__ == "__main__":
    store(rows(matrix.run().measured))
