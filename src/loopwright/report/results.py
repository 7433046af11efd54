"""The results of the commands, as text and as data for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loopwright.lazy_dataclass import dataclass
from loopwright.prove.verdict import CHECKED, NOT_CHECKED, NOTHING, SEQUENTIAL

if TYPE_CHECKING:
    from loopwright.errors import Diagnostic
    from loopwright.model.program import Program
    from loopwright.optimise.optimising import Optimised
    from loopwright.prove.legality.suggest import Suggestion
    from loopwright.prove.verdict import ProofStatus
    from loopwright.rewrite.generation import GenerationStats
    from loopwright.rewrite.request import Outcome, RegionReport
    from loopwright.run.benchmark import Result

HEADINGS = {
    "parallel loop": "loops with independent iterations",
    "interchange": "loops that can be interchanged",
    "tiling": "loops that can be tiled",
    "fusion": "loops that can be fused",
    "unroll and jam": "loops that can be unrolled and jammed",
    "distribution": "statements that can be distributed into separate loops",
    "vectors": "conditional statements that can be in vectors",
    "reordering": "adjacent statements that can be reordered",
    "mapping": "loops that can be mapped to blocks and threads of a GPU",
}
"""The kinds of suggestions, in the order of the list."""

FEW, WINS = 3, 1.05
"""How many suggestions of a kind are listed in any case, and from which ratio on one is worth it."""

BENCH_HEAD = f"{'kernel':<16}{'original':>12}{'transformed':>13}{'ratio':>9}  bits\n"


def stats_text(stats: GenerationStats) -> str:
    """The size of a generated program and how long it took."""
    parts = [size_text(stats), f"generated in {stats.generate_s * 1000:.1f} ms"]
    if stats.prove_s is not None:
        parts.append(f"proved in {stats.prove_s * 1000:.1f} ms ({obligations_text(stats.obligations or 0)})")
    return "; ".join(parts) + "\n"


def size_text(stats: GenerationStats) -> str:
    loops, ifs, copies = stats.loops, stats.ifs, stats.statements
    counts = (loops, "loop", "loops"), (ifs, "if", "ifs"), (copies, "statement copy", "statement copies")
    return ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts)


def outcome_text(outcome: Outcome, file: str, *, proved: bool) -> str:
    """The proofs of a file with new loops, and the assumptions taken on trust."""
    lines: list[str] = []
    for region in outcome.regions:
        count = len(region.statements)
        title = f"{file}:{region.line}: region of {count} statement{'' if count == 1 else 's'}"
        lines.append(title + _remark(region, proved=proved))
        lines += [f"  proved: {one.what} ({obligations_text(one.obligations)})" for one in region.proofs]
        lines += [f"  tested at run time: {one.text}" for one in region.tried if one.standing == "guarded"]
        lines += [f"  taken on trust: {text}" for text in region.assumptions]
        lines += ["  (--guard tests that at run time, where it can be tested)"] if _testable(region) else []
        lines += [f"  contract: {region.contract}"] if region.contract and proved else []
        lines += [f"  {line}" for line in proof_lines([region.proof])]
    lines += [f"{file}: note: {note}" for note in outcome.notes]
    return "".join(f"{line}\n" for line in lines)


def _testable(region: RegionReport) -> bool:
    """Whether something is left to believe of a kind that can be tested, and nothing is tested."""
    kinds = ("aliasing", "rows", "arithmetic", "bounds")
    standings = {one.standing for one in region.tried if one.kind in kinds}
    return "assumed" in standings and "guarded" not in standings


def proof_lines(statuses: Iterable[ProofStatus | None]) -> list[str]:
    """The lines about proofs beyond isl's."""
    lines = [None if one is None else one.line() for one in statuses]
    return [line for line in lines if line is not None]


def proof_data(statuses: Iterable[ProofStatus | None]) -> dict[str, Any] | None:
    """Who answers for all of them: the least that can be said of any; None where nothing was proved."""
    known = [one for one in statuses if one is not None]
    order = (NOTHING, NOT_CHECKED, SEQUENTIAL, CHECKED)
    return asdict(min(known, key=lambda one: order.index(one.status))) if known else None


def obligations_text(count: int) -> str:
    return f"{count} obligation{'' if count == 1 else 's'}"


def _remark(region: RegionReport, *, proved: bool) -> str:
    if region.kept:
        return ": kept as it is, no operation names it"
    return "" if proved else ": not proved"


def outcome_data(outcome: Outcome, file: str, *, proved: bool, prover: str) -> dict[str, Any]:
    """The same, with the text and what each operation left; "kernels" where there are some."""
    kernels = outcome.kernels
    return {
        "file": file,
        "verdict": "proved" if proved else "not proved",
        "code": outcome.source.encode().decode("utf-8", "replace"),
        **({} if kernels is None else {"kernels": kernels.encode().decode("utf-8", "replace")}),
        "regions": [asdict(region) for region in outcome.regions],
        "steps": [{"operation": text, "region": region} for text, region in outcome.steps],
        "provers": prover_data(prover, outcome.remarks),
        "proof": proof_data(region.proof for region in outcome.regions),
        "notes": list(outcome.notes),
        "diagnostics": [],
    }


def prover_data(prover: str, remarks: Iterable[str]) -> list[dict[str, str]]:
    """The results of provers other than isl."""
    return [{"prover": prover, "answer": remark} for remark in remarks]


@dataclass(frozen=True)
class Suggestions:
    """The suggestions for a region; statements that were not analysed are listed by the program."""

    program: Program
    tried: Sequence[Suggestion]

    @property
    def line(self) -> int:
        return self.program.region.line


def suggestions_text(file: str, found: Sequence[Suggestions], *, refused: bool) -> str:
    """Lines of a script, by kind; with `refused`, also the illegal ones, as comments."""
    lines = [
        f"# {file}: each suggestion below is proved legal by itself. A combination of several is",
        "# proved when 'loopwright transform' applies it. Speedups are estimates of the cost model",
        "# for a typical machine with 4 threads; 'loopwright optimise' measures.",
    ]
    for region in found:
        if len(found) > 1:
            lines += ["", f"# the region at line {region.line}"]
        lines += _suggestions(region.tried, refused=refused)
        lines += _left(region.program.set_aside)
    return "".join(f"{line}\n" for line in lines)


def _suggestions(tried: Sequence[Suggestion], *, refused: bool) -> list[str]:
    lines: list[str] = []
    legals = [one for one in tried if one.legal]
    kinds = {kind: ranked([one for one in legals if one.kind.value == kind]) for kind in HEADINGS}
    for kind, legal in sorted(kinds.items(), key=lambda entry: -_best(entry[1])):
        own = [one for one in tried if one.kind.value == kind]
        heading = HEADINGS[kind]
        if not legal and not refused:
            continue
        lines += ["", f"# {heading}" + ("" if legal else ": none")]
        shown = legal if refused or kind == "mapping" else worthwhile(legal)
        for one in shown:
            lines += _entry(one)
        left = len(legal) - len(shown)
        if left:
            are = "is" if left == 1 else "are"
            lines.append(f"# {left} more {are} legal but no faster by the model: see --all")
        if refused:
            lines += [f"# not {one.steps[-1]}: {one.reason}" for one in own if not one.legal]
    return lines or ["", "# no operation that was tried is legal; --all says why"]


def _best(legal: Sequence[Suggestion]) -> float:
    """What orders kinds: the speed of their first, if it is a gain; kinds without a gain keep their order."""
    speed = max((one.speed or 1.0 for one in legal[:1]), default=0.0)
    return speed if speed >= WINS else float(speed * WINS > 1)


def _left(asides: Sequence[Diagnostic]) -> list[str]:
    """What was not taken apart, and how to change that: each reason and each hint once."""
    lines = ["", "# not analysed, so that no operation was tried inside"] if asides else []
    for one in asides:
        place = "" if one.span is None else f"line {one.span.line}: "
        lines += [f"# {place}{one.summary}"] + ([f"#   hint: {one.hint}"] if one.hint else [])
    return list(dict.fromkeys(lines))


def ranked(found: Sequence[Suggestion]) -> list[Suggestion]:
    """The fastest by the model first; those that need --allow-reassociation last."""
    return sorted(found, key=lambda one: (one.reassociation, -(one.speed or 0.0), -one.gain))


def worthwhile(found: Sequence[Suggestion]) -> list[Suggestion]:
    """Of ranked ones those that the model prefers, the first few that cost nothing, and the very first."""
    least = [0.0] + [1 / WINS] * (FEW - 1)
    return [one for k, one in enumerate(found) if (one.speed or 1.0) >= (least[k] if k < FEW else WINS)]


def price(speed: float | None) -> str:
    """The model's prediction as text; empty if there is none."""
    if speed is None:
        return ""
    if speed >= WINS:
        return f"{speed:.1f} times as fast"
    return "as fast as before" if speed * WINS > 1 else f"{1 / speed:.1f} times as slow"


def _entry(one: Suggestion) -> list[str]:
    *before, last = one.steps
    mark = "# " if one.reassociation else ""
    said = ": ".join(part for part in (price(one.speed), one.reason) if part)
    return [*(f"{mark}{line}" for line in before), f"{mark}{last}  # {said}"]


def suggestions_data(file: str, found: Sequence[Suggestions]) -> dict[str, Any]:
    regions = [
        {
            "line": region.line,
            "suggestions": [_suggestion(one) for one in region.tried],
            "left": [_left_data(one) for one in region.program.set_aside],
        }
        for region in found
    ]
    return {"file": file, "regions": regions}


def _left_data(one: Diagnostic) -> dict[str, Any]:
    return {"line": None if one.span is None else one.span.line, "reason": one.summary, "hint": one.hint}


def _suggestion(one: Suggestion) -> dict[str, Any]:
    return {
        "kind": one.kind.value,
        "script": one.script,
        "reason": one.reason,
        "legal": one.legal,
        "reassociation": one.reassociation,
        "gain": one.gain,
        "speed": None if one.speed is None else round(one.speed, 3),
        "price": price(one.speed),
    }


def optimised_text(file: str, found: Optimised) -> str:
    """How much faster the script makes the program, in one line."""
    timed = sum(one.seconds is not None for one in found.tried)
    counts = f"{found.estimated} scripts were estimated, {found.illegal} refused as illegal"
    if found.original is not None:
        counts += f", {timed} programs timed"
    if found.is_untimed:
        counts += "; none was timed, since the original runs too long: try smaller sizes or a larger --budget"
    if found.outcome is None:
        unproved = _seemed_faster(found) if found.is_unproved else None
        if unproved is None:
            return f"{file}: nothing faster was found; {counts}\n"
        speed = f"{unproved:.2f} times as fast" + (" by the model" if found.original is None else "")
        what = f"a script that is {speed} was found, but not proved in the time left"
        return f"{file}: {what}: try a larger --budget, or 'loopwright transform' with it; {counts}\n"
    if found.original is None or found.new is None:
        return f"{file}: {found.ratio:.2f} times as fast by the model, proved; {counts}\n"
    times = f"{min(found.new.seconds):.3g} s instead of {min(found.original.seconds):.3g} s"
    return f"{file}: {found.ratio:.2f} times as fast, {times}, proved; {counts}\n"


def _seemed_faster(found: Optimised) -> float | None:
    """How much faster than the original the fastest script was in its trial, or is by the model if nothing
    was run; None where none was."""
    if found.original is None:
        before = [one.cycles for one in found.tried if not one.script]
        after = [one.cycles for one in found.tried if one.script]
        ratio = max(before, default=0.0) / min(after, default=float("inf"))
    else:
        timed = [one.seconds for one in found.tried if one.script and one.seconds is not None]
        ratio = min(found.original.seconds) / min(timed, default=float("inf"))
    return ratio if ratio > NOTED else None


NOTED = 1.1
"""The speedup from which a script is reported although it is not proved."""

SHOWN, WIDEST = 20, 180
"""The rows of the table of what was tried, and the characters of a script that a row shows."""


def optimised_table(found: Optimised) -> str:
    """The candidates, best first."""
    lines = [f"{'seconds':>10}{'Mcycles':>10}  script (seconds as measured, Mcycles by the model)\n"]
    for one in found.tried[:SHOWN]:
        seconds = "" if one.seconds is None else f"{one.seconds:.4g}"
        script = "; ".join(map(str, one.script)) or "(as it is)"
        script = script if len(script) <= WIDEST else f"{script[:WIDEST]}..."
        lines.append(f"{seconds:>10}{one.cycles / 1e6:10.4g}  {script}\n")
    more = len(found.tried) - SHOWN
    return "".join(lines) + (f"and {more} more: --json lists all\n" if more > 0 else "")


def optimised_data(file: str, found: Optimised, prover: str) -> dict[str, Any]:
    remarks, regions = ((), ()) if found.outcome is None else (found.outcome.remarks, found.outcome.regions)
    return {
        "file": file,
        "verdict": "proved" if found.outcome is not None else "nothing faster",
        "script": found.script,
        "ratio": found.ratio,
        "predicted_ratio": found.predicted,
        "original_s": None if found.original is None else min(found.original.seconds),
        "new_s": None if found.new is None else min(found.new.seconds),
        "machine": str(found.machine),
        "estimated": found.estimated,
        "illegal": found.illegal,
        "tried": [
            {"script": "\n".join(map(str, one.script)), "cycles": one.cycles, "seconds": one.seconds}
            for one in found.tried
        ],
        "provers": prover_data(prover, remarks),
        "proof": proof_data(region.proof for region in regions),
        "diagnostics": [],
    }


def bench_line(result: Result) -> str:
    """One row of the table of `loopwright bench`."""
    bits = "the same" if result.difference is None else f"DIFFERENT: {result.difference}"
    spread = max(result.original.spread, result.transformed.spread)
    return (
        f"{result.name:<16}{result.original.median:>10.4f} s{result.transformed.median:>11.4f} s"
        f"{result.ratio:>9.2f}  {bits}, ±{100 * spread:.0f} %\n"
    )


def bench_data(results: Sequence[Result]) -> dict[str, Any]:
    from loopwright.run.compiler import EXACT, FAST
    from loopwright.run.timing import geometric_mean

    return {
        "verdict": "done",
        "builds": {"timed": " ".join(FAST), "compared": " ".join(EXACT)},
        "kernels": [
            {
                "name": result.name,
                "ratio": result.ratio,
                "same_bits": result.difference is None,
                "original": list(result.original.seconds),
                "transformed": list(result.transformed.seconds),
            }
            for result in results
        ],
        "geometric_mean": geometric_mean(result.ratio for result in results) if results else None,
        "diagnostics": [],
    }
