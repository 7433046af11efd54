// All that the reader wrote, in the fragment of the address: it stays in the browser, and a link holds all of it.

export interface State {
  readonly mode: "c" | "loops";
  readonly c: string; readonly script: string; readonly openmp: boolean; readonly reassociation: boolean;
  readonly text: string; readonly form: string;
}

export const EMPTY: State = { mode: "c", c: "", script: "", openmp: false, reassociation: false, text: "", form: "poly" };

export async function toFragment(state: State): Promise<string> {
  const packed = new Blob([JSON.stringify(state)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `#1${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The state of a fragment; null where it is none of ours. */
export async function fromFragment(fragment: string): Promise<State | null> {
  if (!fragment.startsWith("#1")) return null;
  try {
    const text = atob(fragment.slice(2).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, one => one.charCodeAt(0));
    const whole = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const found: unknown = JSON.parse(await new Response(whole).text());
    return typeof found === "object" && found !== null ? checked(found as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function checked(found: Record<string, unknown>): State {
  const text = (name: string, otherwise = "") => (typeof found[name] === "string" ? (found[name] as string) : otherwise);
  return {
    mode: found["mode"] === "loops" ? "loops" : "c", c: text("c"), script: text("script"),
    openmp: found["openmp"] === true, reassociation: found["reassociation"] === true, text: text("text"), form: text("form", "poly"),
  };
}
