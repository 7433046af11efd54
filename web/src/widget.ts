// A moving picture as a widget of a notebook: its data comes from Python, which makes another for other sizes.
import type { PictureData } from "./data";
import { html } from "./dom";
import { MovingPicture } from "./picture";

interface Model {
  get(name: "picture"): PictureData;
  set(name: "sizes", value: Readonly<Record<string, number>>): void;
  save_changes(): void;
  on(event: string, heard: () => void): void;
  off(event: string, heard: () => void): void;
}

function render({ model, el }: { readonly model: Model; readonly el: HTMLElement }): () => void {
  const place = html("div", { class: "lwm-widget" });
  el.append(place);
  const resize = (sizes: Readonly<Record<string, number>>) => { model.set("sizes", { ...sizes }); model.save_changes(); };
  const shown = new MovingPicture(place, model.get("picture"), { resize });
  const update = () => shown.update(model.get("picture"));
  model.on("change:picture", update);
  return () => { model.off("change:picture", update); shown.stop(); };
}

export default { render };
