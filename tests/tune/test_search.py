"""The search alone, on programs that are numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from loopwright.tune.search import WIDTH, Trial, ranked, search


def speeds(known: Mapping[str, float]) -> Callable[[str, float], float | None]:
    """Scripts are letters, one a line; a script that is not known is illegal."""

    def measure(script: str, limit: float) -> float | None:
        seconds = known.get(script.replace("\n", ""))
        return None if seconds is None or seconds > limit else seconds

    return measure


def letters(script: str) -> Iterator[str]:
    yield from (f"{script}{letter}\n" for letter in "abc")


def never() -> bool:
    return False


def test_the_best_is_extended_until_nothing_gets_faster() -> None:
    known = {"a": 5.0, "b": 9.0, "ab": 4.9, "ac": 3.0, "aca": 2.99, "bb": 1.0}
    (best, *_) = search(10.0, letters, speeds(known), never)
    assert best == Trial(1.0, "b\nb\n"), "a slow start may end well"
    del known["bb"]
    assert search(10.0, letters, speeds(known), never)[0] == Trial(3.0, "a\nc\n"), "2.99 is as fast as 3.0"


def test_only_the_few_best_are_extended() -> None:
    asked: list[str] = []

    def extensions(script: str) -> Iterator[str]:
        asked.append(script)
        yield from (script + letter for letter in "abcde")

    known = {letter: 5.0 + k for k, letter in enumerate("abcde")}
    search(20.0, extensions, speeds(known), never)
    assert asked == ["", *"abcde"[:WIDTH]]


def test_nothing_faster_leaves_the_program_as_it_is() -> None:
    assert search(10.0, letters, speeds({"a": 9.9, "b": 11.0}), never)[0] == Trial(10.0, "")


def test_it_ends_when_time_is_up_with_what_it_has() -> None:
    left = iter([False, False, True])
    found = search(10.0, letters, speeds({"a": 5.0, "b": 4.0, "c": 1.0}), lambda: next(left))
    assert found[0] == Trial(4.0, "b\n")


def test_a_script_is_measured_once() -> None:
    measured: list[str] = []

    def measure(script: str, limit: float) -> float | None:
        measured.append(script)
        return 10.0 / (1 + len(script))

    search(10.0, lambda script: ["x", "xx"], measure, never)
    assert measured == ["x", "xx"]


def test_of_scripts_that_are_equally_fast_the_shortest_is_first() -> None:
    trials = [Trial(1.0, "a\nb\nc\n"), Trial(1.02, "a\nb\n"), Trial(1.2, "a\n"), Trial(5.0, "")]
    assert [one.script for one in ranked(trials)] == ["a\nb\n", "a\nb\nc\n", "a\n", ""]
