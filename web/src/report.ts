// The moving pictures of a report: each is beside its data, and takes the place of the still one.
import type { PictureData } from "./data";
import { html } from "./dom";
import { MovingPicture } from "./picture";

interface Variants { readonly first: string; readonly pictures: Readonly<Record<string, PictureData>> }

function mount(script: HTMLScriptElement): void {
  const { first, pictures } = JSON.parse(script.textContent ?? "") as Variants;
  const place = html("div");
  script.after(place);
  const key = (sizes: Readonly<Record<string, number>>) => Object.entries(sizes).map(([name, value]) => `${name}=${value}`).join();
  const own = Object.fromEntries(pictures[first]!.sizes.map(one => [one.name, one.value]));
  // the sizes chosen; where there is no such picture, the one with only the last change
  const resize = (sizes: Readonly<Record<string, number>>, changed: string) => {
    const found = pictures[key(sizes)] ?? pictures[key({ ...own, [changed]: sizes[changed]! })];
    if (found) shown.update(found);
  };
  const shown: MovingPicture = new MovingPicture(place, pictures[first]!, Object.keys(pictures).length > 1 ? { resize } : {});
  for (const still of document.querySelectorAll<HTMLElement>(`[data-still="${script.id}"]`)) still.hidden = true;
}

document.querySelectorAll<HTMLScriptElement>("script.lw-moving").forEach(mount);
