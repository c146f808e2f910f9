"""Runs the command ``skywave`` as ``python -m skywave``."""

from skywave.cli import main

if __name__ == "__main__":
    main()
