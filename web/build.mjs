// Bundles the page of `loopwright serve` and the moving pictures of `loopwright show`.
// The first line of each script is a digest of all sources, which tests/serve/test_built.py compares.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const files = ["package-lock.json", ...readdirSync("src").sort().map(name => `src/${name}`)];
const digest = createHash("sha256");
for (const file of files) digest.update(readFileSync(file)).update("\0");
const banner = { js: `// sources ${digest.digest("hex")}` };
const common = { bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning" };
const package_ = "../src/loopwright";

await build({ ...common, banner, format: "esm", entryPoints: ["src/playground.ts"], outfile: `${package_}/serve/static/playground.js` });
await build({ ...common, entryPoints: ["src/playground.css"], outfile: `${package_}/serve/static/playground.css` });
await build({ ...common, banner, format: "iife", entryPoints: ["src/report.ts"], outfile: `${package_}/show/static/moving.js` });
await build({ ...common, banner, format: "esm", entryPoints: ["src/widget.ts"], outfile: `${package_}/show/static/widget.js` });
await build({ ...common, entryPoints: ["src/picture.css"], outfile: `${package_}/show/static/moving.css` });
