"""The process that ``skywave bench`` measures; run by its path.

It loads only the core: importing the rest of the package takes a tenth of a second, which must not
count as the simulator's time.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time


def main(core: str, kind: str, work: str) -> None:
    """Run one piece of work with the core at path ``core``; print its counts or its error as JSON.

    ``work`` is JSON for the kind "dumbbell", and the path of a JSON file for "scenario".
    """
    spec = importlib.util.spec_from_file_location("skywave._core", core)
    if spec is None or spec.loader is None:
        raise ImportError(core)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    start_s, began_s = time.process_time(), time.perf_counter()
    try:
        if kind == "scenario":
            with open(work, encoding="utf-8") as file:  # noqa: PTH123  (pathlib is slow to import)
                text = file.read()
            module.run(text)
            counts = {}
        else:
            counts = json.loads(module.bench(**json.loads(work)))
    except ValueError as error:
        counts = {"error": str(error)}
    else:
        counts["cpu_s"] = time.process_time() - start_s
        counts["elapsed_s"] = time.perf_counter() - began_s
    sys.stdout.write(json.dumps(counts) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
