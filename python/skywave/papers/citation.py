"""The citation of a paper."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Citation:
    """A publication and its key: lower-case letters, digits, ``_`` or ``-``.

    ``authors`` are separated by ", ". ``venue`` is the journal or conference, ``doi`` the Digital
    Object Identifier without ``https://doi.org/``; ``url`` is where to read the paper.
    """

    key: str
    title: str
    authors: str
    year: int
    venue: str | None = None
    doi: str | None = None
    url: str | None = None

    @property
    def short(self) -> str:
        """The citation in running text: "Nor et al. 2011"."""
        surnames = [author.split()[-1] for author in self.authors.split(", ")]
        names = " and ".join(surnames) if len(surnames) < 3 else f"{surnames[0]} et al."
        return f"{names} {self.year}"
