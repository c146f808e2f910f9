"""The command line: ``python -m validation.linux``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NoReturn

import typer
from rich.markup import escape
from rich.table import Table

from skywave import Progress
from skywave.cli.console import JsonOption, out, print_json, progress_bar
from validation.linux import machine
from validation.linux.cases import matrix as full_matrix
from validation.linux.cases import on_virtual_time
from validation.linux.cases import short as short_matrix
from validation.linux.emulation import PATHS
from validation.linux.ends import our_command
from validation.linux.guests import MACHINES, Guest, Machine, guest
from validation.linux.kernel import KernelError, cached, fetch, folder
from validation.linux.lab import Plan, Result
from validation.linux.matrix import run
from validation.linux.namespace import HOST, LabError, namespace
from validation.linux.outcome import Outcome

KEEP = Path("out/interop")
STATE = "SKYWAVE_LAB"
INTERRUPTED = 130
COLOURS = {
    Outcome.PASSED: "green",
    Outcome.KERNEL: "cyan",
    Outcome.FAILED: "red",
    Outcome.SKIPPED: "yellow",
}

app = typer.Typer(
    help="The Linux kernel's DCCP as peer: see validation/linux/README.md.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GuestArgument = Annotated[str, typer.Argument(help=f"One of {', '.join(MACHINES)}.")]


@app.command()
def matrix(
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run the cases whose name has these words (may be given again)."),
    ] = None,
    short: Annotated[bool, typer.Option("--short", help="Run a handful, under a minute.")] = False,
    kernel: Annotated[
        bool, typer.Option("--kernel", help="Put a second kernel in our place: proves the runner.")
    ] = False,
    virtual_time: Annotated[
        bool, typer.Option("--virtual-time", help="Run all on virtual time, with Linux 6.12.")
    ] = False,
    names: Annotated[
        bool, typer.Option("--list", help="Print the names of the cases and run none.")
    ] = False,
    keep: Annotated[
        Path, typer.Option(help="Folder for the captures of cases that do not pass.")
    ] = KEEP,
    as_json: JsonOption = False,
) -> None:
    """Run the matrix; status 1 if a case fails."""
    cases = short_matrix() if short else full_matrix()
    cases = [case for case in cases if all(word in case.name for word in only or ())]
    if virtual_time:
        cases = on_virtual_time(cases)
    if names:
        sys.stdout.writelines(f"{case.name}\n" for case in cases)
        return
    results: list[Result] = []
    with progress_bar() as show:
        done = Counter[str]()

        def tell(result: Result) -> None:
            done[result.case.guest] += 1
            total = sum(case.guest == result.case.guest for case in cases)
            show(Progress(result.case.guest, done[result.case.guest], total))

        command = None if kernel else tuple(our_command())
        results = run(cases, Plan(command, keep), tell)
    counts = Counter(result.outcome for result in results)
    last = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome)
    if as_json:
        print_json({"cases": [_document(result) for result in results], "summary": last})
    else:
        _print(results)
        out().print(last, highlight=False)
    # On virtual time, all kinds of cases can run or none.
    has_failed = counts[Outcome.FAILED] or (virtual_time and counts[Outcome.SKIPPED])
    raise typer.Exit(1 if has_failed else 0)


@app.command()
def install() -> None:
    """Install by apt what is missing, and fetch Debian's kernel for QEMU."""
    packages = machine.missing_packages()
    if packages or not cached():
        typer.echo(f"By apt: update, install {' '.join(packages) or 'nothing'}", err=True)
        try:
            machine.install(packages)
        except (OSError, subprocess.CalledProcessError) as error:
            typer.echo(f"apt failed, going on without it: {error}", err=True)
    try:
        typer.echo(f"For QEMU: Linux {fetch().version}, in {folder()}", err=True)
    except KernelError as error:
        typer.echo(f"For QEMU there is no kernel, going on without it: {error}", err=True)


@app.command()
def lab(
    guests: Annotated[list[str], typer.Argument(help=f"Of {', '.join(MACHINES)}.")],
) -> None:
    """Boot guests and open a shell in their namespace; all is gone when the shell ends."""
    with ExitStack() as stack:
        state = Path(stack.enter_context(TemporaryDirectory(prefix="skywave-lab-")))
        space = stack.enter_context(namespace("shell"))
        for name in guests:
            booted = stack.enter_context(guest(_machine(name), space, state)).machine
            places = f"{booted.address('IPv4')} {booted.address('IPv6')}"
            typer.echo(f"{name} is {places} on {booted.tap}", err=True)
        typer.echo(f"you are {HOST['IPv4']} {HOST['IPv6']}; exit ends the lab", err=True)
        shell = os.environ.get("SHELL", "/bin/sh")
        environment = os.environ | {STATE: str(state)}
        subprocess.run(space.command(shell), env=environment, check=False)


@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def inside(
    name: GuestArgument,
    command: Annotated[list[str], typer.Argument(help="The command and its arguments.")],
) -> None:
    """Run a command in a guest of the lab, from the lab's shell."""
    done = _booted(name).start(*command, limit_s=120).wait()
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    raise typer.Exit(done.status)


@app.command()
def path(
    name: GuestArgument,
    emulated: Annotated[str, typer.Argument(help=f"One of {', '.join(PATHS)}.")],
) -> None:
    """Set the path to a guest of the lab, from the lab's shell."""
    if emulated not in PATHS:
        raise typer.BadParameter(f"no path {emulated}")
    _booted(name).run("sh", "-c", PATHS[emulated].script())


def _machine(name: str) -> Machine:
    if name not in MACHINES:
        raise typer.BadParameter(f"no guest {name}; there are {', '.join(MACHINES)}")
    return MACHINES[name]


def _booted(name: str) -> Guest:
    if STATE not in os.environ:
        raise typer.BadParameter("not in the shell of a lab: python -m validation.linux lab uml")
    return Guest(_machine(name), Path(os.environ[STATE]) / name)


def _document(result: Result) -> dict[str, object]:
    case = result.case
    return {
        "name": case.name,
        "guest": case.guest,
        "role": case.role,
        "ccid": case.ccid,
        "family": case.family,
        "path": case.path_name,
        "ending": case.ending,
        "flow": case.flow,
        "outcome": result.outcome,
        "reasons": result.reasons,
        "to_kernel": {"sent": result.to_kernel[0], "received": result.to_kernel[1]},
        "from_kernel": {"sent": result.from_kernel[0], "received": result.from_kernel[1]},
        "closing": result.closing,
        "attempts": result.attempts,
        "seconds": round(result.seconds, 2),
    }


def _print(results: list[Result]) -> None:
    title = "Connections with the Linux kernel's DCCP; > is our packet, < the kernel's"
    table = Table(title=title, title_justify="left")
    for name in ("", "CCID", "IP", "path", "ending", "to kernel", "from kernel", "ended by"):
        table.add_column(name)
    table.add_column("time (s)", justify="right")
    table.add_column("outcome")
    for result in results:
        case = result.case
        again = f", attempt {result.attempts}" if result.attempts > 1 else ""
        table.add_row(
            case.role,
            f"{case.ccid}{'' if case.kernel_insists else ' of several'}",
            case.family,
            case.path_name,
            case.ending,
            *(
                f"{received} of {sent}" if sent else ""
                for sent, received in (result.to_kernel, result.from_kernel)
            ),
            escape(result.closing),
            f"{result.seconds:.1f}",
            f"[{COLOURS[result.outcome]}]{result.outcome}[/]{again}",
        )
    out().print(table)
    for result in results:
        if result.outcome in (Outcome.FAILED, Outcome.KERNEL):
            out().print(escape(f"{result.outcome}: {result.case.name}"))
            for reason in result.reasons:
                out().print(escape(f"  {reason}"), highlight=False)
    skips = Counter(result.reasons for result in results if result.outcome is Outcome.SKIPPED)
    for reasons, times in skips.items():
        out().print(escape(f"skipped: {'; '.join(reasons)} (cases: {times})"), highlight=False)


def main() -> NoReturn:
    """Run the command line and end the process with its status."""
    machine.find_system_programs()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # take the guests down first
    try:
        app()
    except LabError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
    sys.exit(0)


if __name__ == "__main__":
    main()
