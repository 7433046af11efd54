"""The report as one self-contained HTML file: it needs no network, and is complete without scripts.

A moving picture for a page, with several sizes to choose from, is one JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources

from loopwright.lazy_dataclass import dataclass
from loopwright.prove.legality.legality import Status
from loopwright.report.diagnostics import as_html
from loopwright.report.summary import Picture, ProofSummary, RegionSummary, StepSummary
from loopwright.rewrite.request import KEPT, LOOPS, MARKED, MODEL, RANKING, TEXT
from loopwright.show.moving import MovingPicture
from loopwright.show.palette import LIGHT, STYLE, rules

CSS = (  # on a screen, light or dark, and on paper
    STYLE
    + """
body { margin: 0; background: var(--lw-paper); color: var(--lw-ink); font: 16px/1.55 system-ui, sans-serif }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem }
nav { position: sticky; top: 0; z-index: 1; background: var(--lw-paper); padding: .45rem 1.25rem;
  font-size: .88rem; overflow-x: auto; white-space: nowrap;
  border-bottom: 1px solid color-mix(in srgb, var(--lw-muted) 30%, transparent) }
nav ol { max-width: 76rem; margin: 0 auto; padding: 0; list-style: none; display: flex; gap: 1.1rem }
nav li.region { font-weight: 600 } nav .keys { margin-left: auto; color: var(--lw-muted) }
a { color: var(--lw-edge0) } :target { scroll-margin-top: 3.2rem } section { scroll-margin-top: 3.2rem }
a:focus-visible, summary:focus-visible, pre:focus-visible {
  outline: 2px solid var(--lw-edge0); outline-offset: 2px }
kbd { font: inherit; border: 1px solid; border-radius: 4px; padding: 0 .3rem; border-color: var(--lw-muted) }
h1 { font-size: 1.6rem; margin: .2rem 0; overflow-wrap: anywhere }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem }
main > h2 { font-size: 1.45rem; margin-top: 3.4rem }
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
.sides.wide { grid-template-columns: minmax(0, 1fr) } .sides > div { min-width: 0 }
.sides pre { max-height: 46rem; overflow: auto }
figure { margin: 1rem 0; overflow-x: auto } figure svg { max-width: 100%; height: auto; display: block }
figcaption { font-size: .88rem; margin-top: .3rem }
table { border-collapse: collapse; width: 100% }
td:last-child { white-space: nowrap } td.long { white-space: normal }
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
@media (max-width: 50rem) { nav .keys { display: none } }
@media (max-width: 40rem) { td, td:last-child { display: block; white-space: normal; padding: .15rem 0 }
  td + td { border-top: 0 } tr { display: block; padding: .4rem 0 } h1 { font-size: 1.25rem } }
@media print {
  :root { PRINTED }
  nav { display: none } main { max-width: none; padding: 0 } body { font-size: 11pt }
  pre { white-space: pre-wrap; max-height: none !important; overflow: visible }
  figure, tr, .banner { break-inside: avoid } h2, h3, summary { break-after: avoid }
  .badge { border: 1px solid } * { print-color-adjust: exact }
}
""".replace("PRINTED", rules(LIGHT))
)

KEYS = """
const stops = () => [...document.querySelectorAll("section, details")];
const go = step => {
  const tops = stops().map(one => one.getBoundingClientRect().top - 60);
  const here = tops.findLastIndex(top => top <= 1);
  const next = Math.max(0, Math.min(tops.length - 1, here + (step < 0 && tops[here] < -1 ? 0 : step)));
  const stop = stops()[next];
  (stop.querySelector("summary, h2") ?? stop).focus({preventScroll: true});
  scrollBy({top: tops[next]});
};
addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "j") go(1);
  else if (event.key === "k") go(-1);
  else if (event.key === "o") {
    const all = [...document.querySelectorAll("details")], shut = all.some(one => !one.open);
    all.forEach(one => one.open = shut);
  } else if (event.key === "t") scrollTo({top: 0});
});
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(one => one.open = true));
"""
"""j and k go from part to part, o opens or closes all steps, t goes to the top; paper shows every step."""


WIDEST = 74
"""Columns of generated code that fit beside the source."""

MEANING = {
    MODEL: "The loops were read correctly: the model contains every execution of "
    "the source exactly once, in source order, for all values of the parameters.",
    KEPT: "If two executions access the same memory cell and at least one writes "
    "it, they keep their order. So every read sees the same value as before.",
    LOOPS: "The generated loops run every execution of the schedule exactly once, "
    "in its order, and nothing else.",
    TEXT: "The new C source was read back from scratch and "
    "compared with the schedule, so an error in printing would be found here.",
    MARKED: "No iteration of a loop marked parallel accesses a cell that another iteration writes.",
    RANKING: "A second prover confirms that the loops of "
    "the source execute the model, in its order, and terminate.",
}
"""The meaning of each proof, for readers who do not know the polyhedral model."""

IN_A_WORD = {Status.PROVED: "Proved", Status.ILLEGAL: "Refused", Status.UNDECIDED: "Could not decide"}

VERDICT = {
    Status.PROVED: "The new program computes the same as the original, for every problem size.",
    Status.ILLEGAL: "The script changes the result of the program, so nothing was generated. "
    "The smallest example is below.",
    Status.UNDECIDED: "It could not be decided whether the new program computes the same, so nothing was "
    "generated. The reason is below.",
}

UNCHANGED = "No script was given: this is the original program."

LOOK = {Status.PROVED: "good", Status.ILLEGAL: "bad", Status.UNDECIDED: "open"}
LOOKS = {"proved": "good", "refused": "bad", "could not decide": "open", "not tried": "idle"}


@dataclass(frozen=True)
class Section:
    """A section of the page, and its title in the table of contents."""

    anchor: str
    title: str
    html: str


def page(
    title: str, regions: Sequence[RegionSummary], script: str | None, missing: str = "", says: str = UNCHANGED
) -> str:
    """The whole report; `missing` is why there are no pictures, `says` what is proved without a script."""
    note = f'<p class="muted">No pictures: {escape(missing)}.</p>' if missing else ""
    several = len(regions) > 1
    parts = [(one, _sections(one, f"r{k}-" if several else "")) for k, one in enumerate(regions, 1)]
    text = "" if script is None else f"<pre>{escape(script.strip())}</pre>"
    shown = [Section("script", "The script", text)] if text else []
    body = "".join(map(_section, shown)) + "".join(
        (f"<h2>{escape(one.title)}</h2>" if several else "") + "".join(map(_section, sections))
        for one, sections in parts
    )
    moving = any(one.moving for one in regions)
    script_of_motion = f"<script>{moving_script()}</script>" if moving else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}{moving_style() if moving else ''}</style></head>\n"
        f"<body>{_contents(shown, parts, several=several)}"
        f"<main><h1>{escape(title)}</h1>{_verdict(regions, script, says)}{note}"
        f"{body}</main><script>{KEYS}</script>{script_of_motion}</body></html>\n"
    )


def _contents(
    shown: Sequence[Section], parts: Sequence[tuple[RegionSummary, Sequence[Section]]], *, several: bool
) -> str:
    entries = [_entry(part) for part in shown]
    for region, sections in parts:
        entries += [f'<li class="region">line {region.line}:</li>'] if several else []
        entries += [_entry(section) for section in sections]
    keys = "<kbd>j</kbd> <kbd>k</kbd> next, previous; <kbd>o</kbd> open all"
    return f'<nav aria-label="Contents"><ol>{"".join(entries)}<li class="keys">{keys}</li></ol></nav>'


def _entry(part: Section) -> str:
    return f'<li><a href="#{part.anchor}">{escape(part.title)}</a></li>'


def _section(part: Section) -> str:
    return f'<section id="{part.anchor}"><h2 tabindex="-1">{escape(part.title)}</h2>{part.html}</section>'


def _verdict(regions: Sequence[RegionSummary], script: str | None, says: str) -> str:
    """The worst verdict on a region."""
    order = (Status.PROVED, Status.UNDECIDED, Status.ILLEGAL)
    worst = max((region.status for region in regions), key=order.index, default=Status.PROVED)
    text = says if script is None else VERDICT[worst]
    return f'<div class="banner is{LOOK[worst]}">{_badge(IN_A_WORD[worst], LOOK[worst])} {escape(text)}</div>'


def _badge(text: str, look: str) -> str:
    return f'<span class="badge {look}">{escape(text)}</span>'


def _sections(region: RegionSummary, prefix: str) -> list[Section]:
    """The sections on a region, the reason for a refusal first."""
    parts: list[Section] = []

    def add(anchor: str, title: str, html: str) -> None:
        parts.append(Section(prefix + anchor, title, html))

    if region.failure:
        add("why", "Why not", as_html(region.failure))
    if region.pictures or region.moving:
        add("order", "What runs when", _pictures(region, f"{prefix}moving"))
    add("code", "The code", _sides(region))
    if region.steps:
        add("steps", "Step by step", "".join(map(_step, region.steps)))
    add("proofs", "What was proved", _proofs(region.proofs))
    if region.trusted:
        listed = "".join(f"<li>{escape(text)}</li>" for text in region.trusted)
        add("trust", "Taken on trust", f"<ul>{listed}</ul>")
    return parts


def _pictures(region: RegionSummary, anchor: str) -> str:
    """The data of the moving picture, which takes the place of the still ones where scripts run."""
    data = region.moving.replace("<", "\\u003c")
    moving = f'<script type="application/json" class="lw-moving" id="{anchor}">{data}</script>'
    return (moving if data else "") + "".join(_picture(one, anchor) for one in region.pictures)


def _picture(picture: Picture, anchor: str) -> str:
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>"
    return f'<figure data-still="{anchor}">{picture.svg}{caption}</figure>'


def _sides(region: RegionSummary) -> str:
    numbered = _numbered(region.source, region.line, region.blamed)
    left = f"<div><h3>{region.written}</h3><pre>{numbered}</pre></div>"
    if region.result is None:
        return left
    right = f"<div><h3>as generated</h3><pre>{escape(region.result.rstrip())}</pre></div>"
    longest = max((len(line) for line in region.result.splitlines()), default=0)
    look = "sides wide" if longest > WIDEST else "sides"
    return f'<div class="{look}">{left}{right}</div>'


def _numbered(text: str, first: int, blamed: Sequence[int]) -> str:
    lines: list[str] = []
    for number, line in enumerate(text.rstrip().splitlines(), first):
        shown = f'<span class="no">{number:4d}</span>  {escape(line)}'
        lines.append(f'<span class="blamed">{shown}</span>' if number in blamed else shown)
    return "\n".join(lines)


def _step(step: StepSummary) -> str:
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


def _remark_look(one: ProofSummary) -> str:
    """A number stays on one line; a reason may take several."""
    return "muted" if one.remark.endswith("obligations") else "muted long"


def _proofs(found: Sequence[ProofSummary]) -> str:
    rows = "".join(
        f"<tr><td>{_badge(one.status, LOOKS[one.status])}</td>"
        f"<td><strong>{escape(one.what)}</strong><br>{escape(MEANING.get(one.what, ''))}</td>"
        f'<td class="{_remark_look(one)}">{escape(one.remark)}</td></tr>'
        for one in found
    )
    return f"<table>{rows}</table>"


MOST = 12
"""Other sizes that a page has a picture of."""

LARGEST = 400_000
"""Characters of all pictures together."""


def moving_json(draw: Callable[[Mapping[str, int] | None], MovingPicture | None]) -> str:
    """All pictures by their sizes, and which of them is first; empty where there is nothing to draw."""
    first = draw(None)
    if first is None:
        return ""
    found = {_key(first): json.dumps(first.data())}
    for sizes in _near(first):
        other = draw(sizes)
        if other is None:
            continue
        text = json.dumps(other.data())
        if len(found) > MOST or sum(map(len, found.values())) + len(text) > LARGEST:
            break
        found[_key(other)] = text
    pictures = ", ".join(f"{json.dumps(key)}: {text}" for key, text in found.items())
    return f'{{"first": {json.dumps(_key(first))}, "pictures": {{{pictures}}}}}'


def _key(picture: MovingPicture) -> str:
    return ",".join(f"{size.name}={size.value}" for size in picture.sizes)


def _near(picture: MovingPicture) -> Iterator[dict[str, int]]:
    """The sizes with one of them changed, by 1, then by 2 and so on."""
    own = {size.name: size.value for size in picture.sizes}
    for change in range(1, MOST):
        for size in picture.sizes:
            for value in (size.value - change, size.value + change):
                if size.least <= value <= size.most:
                    yield {**own, size.name: value}


@cache
def moving_style() -> str:
    return _static("moving.css")


@cache
def moving_script() -> str:
    return _static("moving.js")


@cache
def widget_script() -> str:
    return _static("widget.js")


def _static(name: str) -> str:
    return (resources.files("loopwright.show") / "static" / name).read_text(encoding="utf-8")
