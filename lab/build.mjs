// Builds the page into the Python package, and stores the hash of what it was built from:
// tests/test_lab.py compares it, without Node.
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = "../python/skywave/lab/static";
await build({
  entryPoints: { lab: "src/main.ts" },
  bundle: true,
  minify: true,
  legalComments: "none",
  target: "es2022",
  format: "esm",
  outdir: out,
});
copyFileSync("src/index.html", `${out}/index.html`);

// The licences of what is in the bundle.
const packages = readdirSync("node_modules", { recursive: true })
  .filter((file) => /^((@[\w-]+\/)?[\w-]+)\/LICENSE/.test(file))
  .filter((file) => !/^(esbuild|typescript|@esbuild|@typescript)\b/.test(file))
  .sort();
writeFileSync(
  `${out}/licences.txt`,
  packages.map((file) => `${file.replace(/\/LICENSE.*/, "")}\n\n${readFileSync(`node_modules/${file}`)}`).join("\n\n"),
);

const sources = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"].concat(
  readdirSync("src").sort().map((name) => `src/${name}`),
);
const hash = createHash("sha256");
for (const name of sources) {
  hash.update(`${name}\n`).update(readFileSync(name)).update("\n");
}
writeFileSync(`${out}/sources.sha256`, `${hash.digest("hex")}\n`);
