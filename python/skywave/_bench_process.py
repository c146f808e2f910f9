"""The process that ``skywave bench`` measures: a program, to be run by its path.

It loads the core alone. The rest of the package takes a tenth of a second to start, which is none
of the simulator's.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time


def main(core: str, kind: str, work: str) -> None:
    """Run one piece of work with the core at this path; print its counts, or what is wrong.

    A "dumbbell" is given as JSON, a "scenario" by the path of its JSON.
    """
    spec = importlib.util.spec_from_file_location("skywave._core", core)
    if spec is None or spec.loader is None:
        raise ImportError(core)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    start_s = time.process_time()
    try:
        if kind == "scenario":
            with open(work, encoding="utf-8") as file:  # noqa: PTH123  (pathlib takes time to load)
                text = file.read()
            module.run(text)
            counts = {}
        else:
            counts = json.loads(module.bench(**json.loads(work)))
    except ValueError as error:
        counts = {"error": str(error)}
    else:
        counts["cpu_s"] = time.process_time() - start_s
    sys.stdout.write(json.dumps(counts) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
