"""Checks of a ledger beyond its types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skywave.papers.placeholders import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skywave.papers.entries import Contents, Test


def faults(ledger: Contents) -> Iterator[tuple[str, str]]:
    """Yield each fault: its field and a description."""
    if not ledger.paper.title:
        yield "paper.title", "it is empty"
    if not all(author.strip() for author in ledger.paper.authors.split(", ")):
        yield "paper.authors", "a name is empty: separate names by ', '"
    known: set[str] = set()
    for place, each in ledger.entries():
        try:
            tests = list(each.each())
        except KeyError as error:
            yield place, f"a row lacks {error.args[0]!r}, which a placeholder names"
            continue
        except ValueError as error:
            yield place, str(error)
            continue
        for test in tests:
            yield from _of_test(test, place, ledger)
            if test.id in known:
                yield f"{place}.id", f"{test.id} is the id of another test too"
            known.add(test.id)
            if len(test.conditions) < len(each.conditions):
                yield f"{place}.conditions", f"two of {test.id} have the same name"
    yield from _of_texts(ledger)
    yield from _of_readings(ledger)
    for index, quotation in enumerate(ledger.sentence):
        for begin in quotation.tested_by:
            if not any(f"{one}/".startswith(f"{begin}/") for one in known):
                yield f"sentence[{index}].tested_by", f"no test is {begin} or begins with it"


def _of_readings(ledger: Contents) -> Iterator[tuple[str, str]]:
    labels = [one.label for one in ledger.reading]
    for index, label in enumerate(labels):
        if label in labels[:index]:
            yield f"reading[{index}].label", f"{label} is the label of another reading too"


def _of_test(test: Test, place: str, ledger: Contents) -> Iterator[tuple[str, str]]:
    if test.id.startswith("/") or test.id != " ".join(test.id.split()) or not test.id:
        why = "begin it with the place in the paper, and put single spaces between words alone"
        yield f"{place}.id", f"{test.id!r} is not an id: {why}"
    if test.reason and test.reason not in ledger.reason:
        yield f"{place}.reason", f"{test.reason!r} is not in [reason]"
    try:
        _ = test.expectation
    except ValueError as error:
        yield f"{place}.expect", str(error)


def _of_texts(ledger: Contents) -> Iterator[tuple[str, str]]:
    """Yield texts with braces that are no placeholders, and reasons that name each other."""
    reasons = {f"reason.{name}.text": reason.text for name, reason in ledger.reason.items()}
    texts = {f"sentence[{index}].remark": one.remark for index, one in enumerate(ledger.sentence)}
    if ledger.finding is not None:
        texts["finding.sentence"] = ledger.finding.sentence
        texts["finding.headline"] = ledger.finding.headline or ""
    named: dict[str, list[str]] = {}
    for place, text in {**reasons, **texts}.items():
        try:
            named[place] = [f"reason.{name}.text" for name in names(text)]
        except ValueError as error:
            yield place, str(error)
    # What names no reason that is left can be filled. What is left in the end is in a circle, or
    # names a reason that is.
    left = {
        place: [one for one in named[place] if one in named] for place in reasons if place in named
    }
    while free := [place for place, ones in left.items() if not any(one in left for one in ones)]:
        for place in free:
            del left[place]
    for place in left:
        yield place, "it names itself, through the reasons that it names"
