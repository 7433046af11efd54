"""Handlers of signals: what they may see are atomics and `volatile sig_atomic_t` (C17 5.1.2.3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.traps.support import LEFT, PROVED, Trap, answer, comparison, function

HEAD = """#include <signal.h>
volatile sig_atomic_t flag; int last;
static void h(int number) { last = number; flag = 1; }
void install(void) { signal(SIGINT, h); }"""
UP, DOWN = "for (i = 0; i < n; i++)", "for (i = n - 1; i >= 0; i--)"
SEEN = {
    "a flag that is read": ("{up} if (flag) a[i] = 1;", "{down} if (flag) a[i] = 1;"),
    "a flag that is read once": ("{up} if (flag) a[i] = 1;", "if (flag) {up} a[i] = 1;"),
    "a flag that ends a loop": ("for (i = 0; i < n && !flag; i++) a[i] = 1;", "{up} a[i] = 1;"),
    "a flag around a loop": ("flag = 1; {up} a[i] = 1; flag = 0;", "flag = 1; flag = 0; {up} a[i] = 1;"),
    "a flag that is set twice": ("flag = 1; {up} a[i] = 1; flag = 0;", "{up} a[i] = 1; flag = 0;"),
    "a flag that counts": ("{up} {{ flag = i; a[i] = 1; }}", "{down} {{ flag = i; a[i] = 1; }}"),
    "a flag that is added": ("{up} a[i] = flag + flag;", "{up} a[i] = 2 * flag;"),
    "a signal that is raised": ("{up} {{ a[i] = b[i]; raise(2); }}", "{down} {{ a[i] = b[i]; raise(2); }}"),
    "a wait for signals": ("{up} {{ pause(); a[i] = b[0]; }}", "{down} {{ pause(); a[i] = b[0]; }}"),
    "a fence": (
        "{up} {{ a[i] = b[i]; atomic_signal_fence(5); }}",
        "{down} {{ a[i] = b[i]; atomic_signal_fence(5); }}",
    ),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_a_handler_may_see_stays(name: str, tmp_path: Path) -> None:
    bodies = [one.format(up=UP, down=DOWN) for one in SEEN[name]]
    old, new = (function(one, head=HEAD) for one in bodies)
    assert comparison(old, new, tmp_path) != PROVED != comparison(new, old, tmp_path)
    assert answer(Trap(name, bodies[0], HEAD, script="reverse(S1, i)"), tmp_path) not in (PROVED, LEFT)


@pytest.mark.parametrize("setup", ["signal(SIGINT, h);", "raise(SIGINT);"])
def test_signals_around_a_region_are_compared(setup: str, tmp_path: Path) -> None:
    body = f"{UP} a[i] = last;"
    old, new = function(body, head=HEAD, setup=setup), function(body, head=HEAD)
    assert comparison(old, new, tmp_path) != PROVED != comparison(new, old, tmp_path)


def test_a_handler_must_not_see_other_variables(tmp_path: Path) -> None:
    old, new = (function(f"{head} a[i] = b[i] + last;", head=HEAD) for head in (UP, DOWN))
    assert comparison(old, new, tmp_path) == PROVED
