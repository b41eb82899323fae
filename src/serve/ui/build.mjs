// Builds built/ from src/: one script, one style sheet, and the licences of the bundled packages. The output is
// reproducible: it contains no names, times or paths of the machine.
import { build } from 'esbuild';
import { copyFile, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const top = dirname(fileURLToPath(import.meta.url));
const built = process.argv[2] ?? join(top, 'built');
await rm(built, { recursive: true, force: true });
await mkdir(built, { recursive: true });

const result = await build({
  absWorkingDir: top,
  entryPoints: { page: 'src/main.tsx' },
  outdir: built,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['chrome111', 'firefox115', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  charset: 'utf8',
  legalComments: 'none',
  metafile: true,
  preserveSymlinks: true,
  logLevel: 'warning',
});

// The tab's icon stands in the page itself: browsers fetch a linked one again at every step.
const icon = await readFile(join(top, 'src', 'icon.svg'), 'utf8');
const page = await readFile(join(top, 'src', 'index.html'), 'utf8');
await writeFile(join(built, 'index.html'), page.replace('"/icon.svg"', () => `"data:image/svg+xml,${encodeURIComponent(icon.trim())}"`));
await copyFile(join(top, 'src', 'icon.svg'), join(built, 'icon.svg'));

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) packages.add(found[1]);
}
const notices = ['The page of `ixmcp ui` contains parts of these packages.\n'];
for (const name of [...packages].sort()) {
  const folder = join(top, 'node_modules', name);
  const about = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const licence = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file));
  if (!licence) throw new Error(`${name} has no licence file`);
  const text = (await readFile(join(folder, licence), 'utf8')).replaceAll('\r\n', '\n').trim();
  notices.push(`${name} ${about.version} (${about.license})\n\n${text}\n`);
}
await writeFile(join(built, 'licences.txt'), notices.join(`\n${'-'.repeat(80)}\n\n`));

let whole = 0;
for (const file of (await readdir(built)).sort()) {
  const path = join(built, file);
  const packed = gzipSync(await readFile(path)).length;
  whole += packed;
  console.log(`${file.padEnd(14)} ${String((await stat(path)).size).padStart(8)} bytes  ${String(packed).padStart(7)} packed`);
}
console.log(`${'in all'.padEnd(14)} ${' '.repeat(15)} ${String(whole).padStart(7)} packed`);
