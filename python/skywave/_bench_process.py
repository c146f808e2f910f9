"""The process that ``skywave bench`` measures: a program, to be run by its path.

It loads the core alone. The rest of the package takes a tenth of a second to start, which is none
of the simulator's.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time


def main(core: str, work: str) -> None:
    """Run one piece of work with the core at this path; print its counts, or what is wrong."""
    spec = importlib.util.spec_from_file_location("skywave._core", core)
    if spec is None or spec.loader is None:
        raise ImportError(core)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    start_s = time.process_time()
    try:
        counts = json.loads(module.bench(**json.loads(work)))
    except ValueError as error:
        counts = {"error": str(error)}
    else:
        cpu_s = time.process_time() - start_s
        counts["cpu_s"] = cpu_s
        counts["events_per_s"] = counts["events"] / cpu_s
        counts["packet_hops_per_s"] = counts["packet_hops"] / cpu_s
    sys.stdout.write(json.dumps(counts) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
