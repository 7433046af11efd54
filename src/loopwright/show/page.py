"""The report as one HTML file that needs nothing else: no network, and without scripts all of it is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from loopwright.prove.legality.legality import Status
from loopwright.show.meaning import IN_A_WORD, VERDICT, meaning
from loopwright.show.story import Obligation, Picture, Step, Story
from loopwright.show.style import CSS, KEYS

WIDEST = 74
"""Columns of generated code that fit beside the source."""

LOOK = {Status.PROVED: "good", Status.ILLEGAL: "bad", Status.UNDECIDED: "open"}
LOOKS = {"proved": "good", "refused": "bad", "could not decide": "open", "not tried": "idle"}


@dataclass(frozen=True)
class Part:
    """A section of the report, and what the contents call it."""

    anchor: str
    title: str
    html: str


def page(title: str, stories: Sequence[Story], script: str | None, missing: str = "") -> str:
    """The whole report; `missing` is why there are no pictures."""
    note = f'<p class="muted">No pictures: {escape(missing)}.</p>' if missing else ""
    several = len(stories) > 1
    regions = [(story, _parts(story, f"r{k}-" if several else "")) for k, story in enumerate(stories, 1)]
    shown = [] if script is None else [Part("script", "The script", f"<pre>{escape(script.strip())}</pre>")]
    body = "".join(map(_section, shown)) + "".join(
        (f"<h2>{escape(story.title)}</h2>" if several else "") + "".join(map(_section, parts))
        for story, parts in regions
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style></head>\n"
        f"<body>{_contents(shown, regions, several=several)}"
        f"<main><h1>{escape(title)}</h1>{_verdict(stories, script)}{note}"
        f"{body}</main><script>{KEYS}</script></body></html>\n"
    )


def _contents(
    shown: Sequence[Part], regions: Sequence[tuple[Story, Sequence[Part]]], *, several: bool
) -> str:
    entries = [_entry(part) for part in shown]
    for story, parts in regions:
        entries += [f'<li class="region">line {story.line}:</li>'] if several else []
        entries += [_entry(part) for part in parts]
    keys = "<kbd>j</kbd> <kbd>k</kbd> next, previous; <kbd>o</kbd> open all"
    return f'<nav aria-label="Contents"><ol>{"".join(entries)}<li class="keys">{keys}</li></ol></nav>'


def _entry(part: Part) -> str:
    return f'<li><a href="#{part.anchor}">{escape(part.title)}</a></li>'


def _section(part: Part) -> str:
    return f'<section id="{part.anchor}"><h2 tabindex="-1">{escape(part.title)}</h2>{part.html}</section>'


def _verdict(stories: Sequence[Story], script: str | None) -> str:
    """The worst that is said of a region."""
    order = (Status.PROVED, Status.UNDECIDED, Status.ILLEGAL)
    worst = max((story.status for story in stories), key=order.index, default=Status.PROVED)
    text = VERDICT[worst]
    if script is None:
        text = "No script was given: this is the program as it is written."
    return f'<div class="banner is{LOOK[worst]}">{_badge(IN_A_WORD[worst], LOOK[worst])} {escape(text)}</div>'


def _badge(text: str, look: str) -> str:
    return f'<span class="badge {look}">{escape(text)}</span>'


def _parts(story: Story, prefix: str) -> list[Part]:
    """What there is to say of a region, the reason for a refusal first."""
    parts: list[Part] = []

    def add(anchor: str, title: str, html: str) -> None:
        parts.append(Part(prefix + anchor, title, html))

    if story.explanation:
        add("why", "Why not", f"<pre>{escape(story.explanation.rstrip())}</pre>")
    if story.pictures:
        add("order", "What runs when", "".join(map(_picture, story.pictures)))
    add("code", "The code", _sides(story))
    if story.steps:
        add("steps", "Step by step", "".join(map(_step, story.steps)))
    add("proofs", "What was proved", _obligations(story.obligations))
    if story.trusted:
        listed = "".join(f"<li>{escape(text)}</li>" for text in story.trusted)
        add("trust", "Taken on trust", f"<ul>{listed}</ul>")
    return parts


def _picture(picture: Picture) -> str:
    return f"<figure>{picture.svg}<figcaption>{escape(picture.caption)}</figcaption></figure>"


def _sides(story: Story) -> str:
    numbered = _numbered(story.source, story.line, story.blamed)
    left = f"<div><h3>as written</h3><pre>{numbered}</pre></div>"
    if story.result is None:
        return left
    right = f"<div><h3>as generated</h3><pre>{escape(story.result.rstrip())}</pre></div>"
    longest = max((len(line) for line in story.result.splitlines()), default=0)
    look = "sides wide" if longest > WIDEST else "sides"
    return f'<div class="{look}">{left}{right}</div>'


def _numbered(text: str, first: int, blamed: Sequence[int]) -> str:
    lines: list[str] = []
    for number, line in enumerate(text.rstrip().splitlines(), first):
        shown = f'<span class="no">{number:4d}</span>  {escape(line)}'
        lines.append(f'<span class="blamed">{shown}</span>' if number in blamed else shown)
    return "\n".join(lines)


def _step(step: Step) -> str:
    badge = _badge("legal so far" if step.status is Status.PROVED else "not legal yet", LOOK[step.status])
    remark = f'<span class="muted">{escape(step.remark)}</span>'
    unchanged = '<span class="hunk">no change in the text</span>'
    lines = "".join(_difference(line) for line in step.diff) or unchanged
    is_open = " open" if len(step.diff) < 60 else ""
    head = f"<summary><code>{escape(step.text)}</code> {badge} {remark}</summary>"
    return f'<details{is_open}>{head}<pre tabindex="0">{lines}</pre></details>'


def _difference(line: str) -> str:
    kind = {"+": "add", "-": "del", "@": "hunk"}.get(line[:1], "same")
    return f'<span class="{kind}">{escape(line)}</span>'


def _remark_look(one: Obligation) -> str:
    """A number stays on one line; a reason may take several."""
    return "muted" if one.remark.endswith("obligations") else "muted long"


def _obligations(found: Sequence[Obligation]) -> str:
    rows = "".join(
        f"<tr><td>{_badge(one.status, LOOKS[one.status])}</td><td><strong>{escape(one.what)}</strong>"
        f'<br>{escape(meaning(one.what))}</td><td class="{_remark_look(one)}">{escape(one.remark)}</td></tr>'
        for one in found
    )
    return f"<table>{rows}</table>"
