"""Generates all files that derive from the core's schema."""

from tools import GENERATED

for generated in GENERATED:
    generated.PATH.write_text(generated.text(), encoding="utf-8")
    print(generated.PATH.relative_to(generated.PATH.cwd()))  # noqa: T201
