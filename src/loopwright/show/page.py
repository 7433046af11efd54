"""The report as one HTML file that needs nothing else: no network, no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from loopwright.prove.legality.legality import Status
from loopwright.show.meaning import IN_A_WORD, VERDICT, meaning
from loopwright.show.palette import STYLE
from loopwright.show.story import Obligation, Picture, Step, Story

CSS = """
body { margin: 0; background: var(--lw-paper); color: var(--lw-ink); font: 16px/1.55 system-ui, sans-serif }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem }
h1 { font-size: 1.6rem; margin: .2rem 0 } h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem } .muted, figcaption { color: var(--lw-muted) }
pre, code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .83rem }
pre { margin: 0; padding: .7rem .9rem; overflow-x: auto; border: 1px solid; border-radius: 8px;
  border-color: color-mix(in srgb, var(--lw-muted) 35%, transparent); line-height: 1.45; tab-size: 4 }
.badge { display: inline-block; padding: .05rem .6rem; border-radius: 1rem; font-weight: 600;
  font-size: .85rem; color: var(--lw-paper); white-space: nowrap }
.good { background: var(--lw-edge2) } .bad { background: var(--lw-broken) }
.open { background: var(--lw-edge1) }
.idle { background: var(--lw-muted) }
.banner { border-left: 5px solid; padding: .5rem 1rem; margin: 1rem 0; border-radius: 4px }
.banner.isgood { border-color: var(--lw-edge2);
  background: color-mix(in srgb, var(--lw-edge2) 10%, transparent) }
.banner.isbad { border-color: var(--lw-broken);
  background: color-mix(in srgb, var(--lw-broken) 10%, transparent) }
.banner.isopen { border-color: var(--lw-edge1);
  background: color-mix(in srgb, var(--lw-edge1) 10%, transparent) }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem }
.sides > div { min-width: 0 }
figure { margin: 1rem 0; overflow-x: auto } figure svg { max-width: 100%; height: auto; display: block }
figcaption { font-size: .88rem; margin-top: .3rem }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .5rem .6rem;
  border-top: 1px solid color-mix(in srgb, var(--lw-muted) 30%, transparent) }
.add { color: var(--lw-edge2); display: block;
  background: color-mix(in srgb, var(--lw-edge2) 12%, transparent) }
.del { color: var(--lw-broken); display: block;
  background: color-mix(in srgb, var(--lw-broken) 10%, transparent) }
.hunk { color: var(--lw-muted); display: block } .same { display: block }
.no { color: var(--lw-muted); user-select: none } .blamed { display: inline-block; min-width: 100%;
  background: color-mix(in srgb, var(--lw-broken) 16%, transparent) }
details > summary { cursor: pointer; margin: .8rem 0 .4rem } summary code { font-weight: 600 }
"""

LOOK = {Status.PROVED: "good", Status.ILLEGAL: "bad", Status.UNDECIDED: "open"}
LOOKS = {"proved": "good", "refused": "bad", "could not decide": "open", "not tried": "idle"}


def page(title: str, stories: Sequence[Story], script: str | None, missing: str = "") -> str:
    """The whole report; `missing` is why there are no pictures."""
    parts = [_region(story, several=len(stories) > 1) for story in stories]
    note = f'<p class="muted">No pictures: {escape(missing)}.</p>' if missing else ""
    shown = "" if script is None else f"<h2>The script</h2><pre>{escape(script.strip())}</pre>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{CSS}</style></head>\n"
        f"<body><main><h1>{escape(title)}</h1>{_verdict(stories, script)}{note}{shown}"
        f"{''.join(parts)}</main></body></html>\n"
    )


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


def _region(story: Story, *, several: bool) -> str:
    heading = f"<h2>{escape(story.title)}</h2>" if several else ""
    parts = [heading]
    if story.explanation:
        parts.append(f"<h2>Why not</h2><pre>{escape(story.explanation.rstrip())}</pre>")
    if story.pictures:
        parts.append("".join(["<h2>What runs when</h2>", *map(_picture, story.pictures)]))
    parts.append(_sides(story))
    if story.steps:
        parts.append("".join(["<h2>The script, step by step</h2>", *map(_step, story.steps)]))
    parts.append(_obligations(story.obligations))
    if story.trusted:
        listed = "".join(f"<li>{escape(text)}</li>" for text in story.trusted)
        parts.append(f"<h2>Taken on trust</h2><ul>{listed}</ul>")
    return "".join(parts)


def _picture(picture: Picture) -> str:
    return f"<figure>{picture.svg}<figcaption>{escape(picture.caption)}</figcaption></figure>"


def _sides(story: Story) -> str:
    numbered = _numbered(story.source, story.line, story.blamed)
    left = f"<div><h3>as written</h3><pre>{numbered}</pre></div>"
    if story.result is None:
        return f"<h2>The code</h2>{left}"
    right = f"<div><h3>as generated</h3><pre>{escape(story.result.rstrip())}</pre></div>"
    return f'<h2>The code</h2><div class="sides">{left}{right}</div>'


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
    return f"<details{is_open}>{head}<pre>{lines}</pre></details>"


def _difference(line: str) -> str:
    kind = {"+": "add", "-": "del", "@": "hunk"}.get(line[:1], "same")
    return f'<span class="{kind}">{escape(line)}</span>'


def _obligations(found: Sequence[Obligation]) -> str:
    rows = "".join(
        f"<tr><td>{_badge(one.status, LOOKS[one.status])}</td><td><strong>{escape(one.what)}</strong>"
        f'<br>{escape(meaning(one.what))}</td><td class="muted">{escape(one.remark)}</td></tr>'
        for one in found
    )
    return f"<h2>What was proved</h2><table>{rows}</table>"
