"""``python -m skywave`` is the command ``skywave``."""

from skywave.cli import main

if __name__ == "__main__":
    main()
