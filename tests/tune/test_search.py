"""The search alone, on programs that are numbers: the steps of a script are letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from loopwright.tune.search import WIDTH, Trial, ranked, search

Letters = tuple[str, ...]


def speeds(known: Mapping[str, float]) -> Callable[[Letters, float], float | None]:
    """A script that is not known is illegal."""

    def measure(script: Letters, limit: float) -> float | None:
        seconds = known.get("".join(script))
        return None if seconds is None or seconds > limit else seconds

    return measure


def letters(script: Letters) -> Iterator[Letters]:
    yield from ((*script, letter) for letter in "abc")


def trial(seconds: float, script: str) -> Trial[str]:
    return Trial(seconds, tuple(script))


def never() -> bool:
    return False


def test_the_best_is_extended_until_nothing_gets_faster() -> None:
    known = {"a": 5.0, "b": 9.0, "ab": 4.9, "ac": 3.0, "aca": 2.99, "bb": 1.0}
    (best, *_) = search(10.0, letters, speeds(known), never)
    assert best == trial(1.0, "bb"), "a slow start may end well"
    del known["bb"]
    assert search(10.0, letters, speeds(known), never)[0] == trial(3.0, "ac"), "2.99 is as fast as 3.0"


def test_only_the_few_best_are_extended() -> None:
    asked: list[str] = []

    def extensions(script: Letters) -> Iterator[Letters]:
        asked.append("".join(script))
        yield from ((*script, letter) for letter in "abcde")

    known = {letter: 5.0 + k for k, letter in enumerate("abcde")}
    search(20.0, extensions, speeds(known), never)
    assert asked == ["", *"abcde"[:WIDTH]]


def test_nothing_faster_leaves_the_program_as_it_is() -> None:
    assert search(10.0, letters, speeds({"a": 9.9, "b": 11.0}), never)[0] == trial(10.0, "")


def test_it_ends_when_time_is_up_with_what_it_has() -> None:
    left = iter([False, False, True])
    found = search(10.0, letters, speeds({"a": 5.0, "b": 4.0, "c": 1.0}), lambda: next(left))
    assert found[0] == trial(4.0, "b")


def test_a_script_is_measured_once() -> None:
    measured: list[str] = []

    def measure(script: Letters, limit: float) -> float | None:
        measured.append("".join(script))
        return 10.0 / (1 + len(script))

    search(10.0, lambda script: [("x",), ("x", "x")], measure, never)
    assert measured == ["x", "xx"]


def test_of_scripts_that_are_equally_fast_the_shortest_is_first() -> None:
    trials = [trial(1.0, "abc"), trial(1.02, "ab"), trial(1.2, "a"), trial(5.0, "")]
    assert ["".join(one.script) for one in ranked(trials)] == ["ab", "abc", "a", ""]


def test_of_scripts_with_the_same_time_the_one_found_first_is_first() -> None:
    trials = [trial(1.0, "b"), trial(1.0, "a"), trial(9.0, "")]
    assert ["".join(one.script) for one in ranked(trials)] == ["b", "a", ""]
