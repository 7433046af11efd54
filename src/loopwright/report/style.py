"""How the report looks: on a screen, light or dark, and on paper."""

from __future__ import annotations

from loopwright.show.palette import LIGHT, STYLE, rules

CSS = (
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
