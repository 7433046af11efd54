"""`loopwright verify NEW.c PROOF.v`: whether a proof file proves the theorem about two C files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from loopwright.cli.frame import Invocation, Printed, as_lines
from loopwright.cli.options import Verbs, add_reading_options, coq_library, reading_options, seconds

if TYPE_CHECKING:
    from loopwright.progress import Progress
    from loopwright.rewrite.verification import Verified, VerifiedRegion


EXAMPLE = ("loopwright verify new.c proof.v", "check a proof file with coqc")


def add_to(verbs: Verbs) -> None:
    """Add the verb and its options to the parser."""
    parser = verbs.add_parser(
        "verify",
        help="check that a proof file proves two C files equivalent",
        description="Restate the theorem from the original C file and NEW, and check with coqc that PROOF, a "
        "file written by 'transform --prover coq', proves that theorem. Statements of PROOF about the "
        "programs are not trusted. The original is the file that PROOF names, next to PROOF or to NEW. NEW "
        "must be identical to the original outside the regions that have a proof.",
    )
    parser.set_defaults(invocation=verify)
    parser.add_argument("new", metavar="NEW", help="the C file with new loops")
    parser.add_argument("proofs", metavar="PROOF", nargs="+", help="a proof file for each rewritten region")
    parser.add_argument("--old", metavar="OLD", help="the original C file")
    add_reading_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--prover-timeout", type=seconds, metavar="SECONDS", help="processor time for each run of coqc"
    )


def verify(arguments: argparse.Namespace) -> Invocation[Verified]:
    empty = {"new": arguments.new, "verdict": "", "regions": [], "diagnostics": []}
    return Invocation(
        work=lambda progress: _verified(arguments, progress),
        render=lambda found: _printed(arguments, found),
        file=arguments.new,
        failed=(lambda: empty) if arguments.json else None,
        prepare=coq_library("coq"),
    )


def _verified(arguments: argparse.Namespace, progress: Progress) -> Verified:
    from loopwright.rewrite.verification import VerifyRequest, verified

    return verified(
        VerifyRequest(
            arguments.new,
            tuple(arguments.proofs),
            arguments.old,
            reading_options(arguments),
            arguments.prover_timeout,
        ),
        progress,
    )


def _printed(arguments: argparse.Namespace, found: Verified) -> Printed:
    trusted = "".join(f"  taken on trust: {text}\n" for text in found.assumptions)
    if arguments.json:
        data = {
            "old": found.old,
            "new": arguments.new,
            "verdict": "proved",
            "regions": [
                {
                    "line": one.line,
                    "proof": {
                        "file": one.proof,
                        "by": one.status.by,
                        "status": one.status.status,
                        "detail": one.status.detail,
                    },
                }
                for one in found.regions
            ],
            "assumptions": list(found.assumptions),
            "diagnostics": [],
        }
        return Printed(as_lines(data), trusted)
    return Printed("".join(_line(arguments.new, found.old, one) for one in found.regions), trusted)


def _line(new: str, old: str, region: VerifiedRegion) -> str:
    standing = f", {region.status.status}" if region.status.detail else ""
    remark = f" ({region.status.detail})" if region.status.detail else ""
    what = f"leaves the memory that {old} leaves"
    return f"{new}:{region.line}: {what}: proved by {region.proof}{standing}{remark}\n"
