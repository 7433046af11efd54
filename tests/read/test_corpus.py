"""Files written by others: all are read, and the result is consistent."""

from __future__ import annotations

from pathlib import Path

import islpy as isl

from loopwright.model.schedule import Band, Schedule
from loopwright.read.schedules import read_schedule


def test_every_file_of_the_corpus_is_read(corpus_file: Path) -> None:
    schedule = read_schedule(corpus_file)
    assert isinstance(schedule, Schedule)
    assert schedule.context.is_params()
    if isinstance(schedule.tree, Band):
        vectors = schedule.tree.schedule.intersect_domain(schedule.domain)
        sizes: set[int] = set()
        vectors.foreach_map(lambda one: sizes.add(one.dim(isl.dim_type.out)))
        assert sizes <= {len(schedule.tree.members)}
        assert schedule.domain.is_subset(vectors.domain())
