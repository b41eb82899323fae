// How long the views of `ixmcp ui` take until they can be used: `target/clients/node/node_modules/.bin/node benches/page.cjs PROGRAM TREE [ROUNDS]`.
//
// Indexes TREE where it is, starts a daemon and the page, and opens every view in headless Chromium, in rounds over all views: first
// in a new tab, then from the view before. A view can be used when its content is there, nothing is loading (but the references of a
// name, which come later), and the browser has drawn it and accepts input. Prints, by view, the median and the highest time, and the median of the CPU time of the tab and of the
// program, in milliseconds; then the compressed size of the first load. `.ci/setup` installs the modules.
'use strict';
const { execFileSync, spawn } = require('node:child_process');
const { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } = require('node:fs');
const os = require('node:os');
const { join, resolve } = require('node:path');

const clients = join(__dirname, '..', 'target', 'clients');
const { chromium } = require(join(clients, 'page', 'node_modules', 'playwright-core'));

const [program, tree] = process.argv.slice(2, 4).map((path) => resolve(path));
const rounds = Number(process.argv[4] ?? 5);
/// Longer than that, and something is broken.
const TIMEOUT = 120_000;
/// Only what is asked by name is measured, if the variable says so.
const wanted = process.env.ONLY;

const base = mkdtempSync(join(os.tmpdir(), 'ixmcp-page-'));
const environment = { ...process.env, HOME: join(base, 'home'), XDG_RUNTIME_DIR: join(base, 'run'), XDG_CACHE_HOME: join(base, 'cache') };
for (const name of ['home', 'run', 'cache']) mkdirSync(join(base, name), { mode: 0o700 });
const ixmcp = (...given) => execFileSync(program, given, { cwd: tree, env: environment, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] });
function rows(sql) {
  try {
    return ixmcp('sql', '--json', sql).split('\n').filter(Boolean).map((line) => JSON.parse(line));
  } catch (error) {
    if (error.status === 1) return []; // No row.
    throw error;
  }
}

/// The CPU time that a process has used, in milliseconds.
function cpu(pid) {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ').slice(11, 13).map(Number);
    return (user + system) * 10;
  } catch {
    return 0;
  }
}

/// The views with what must be there, in CSS; `{}` in an address is replaced.
function views() {
  const code = "language IN ('python', 'rust', 'typescript', 'javascript', 'c', 'cpp', 'go', 'java')";
  const largest = rows(`SELECT path FROM files WHERE ${code} ORDER BY lines DESC LIMIT 1`)[0]?.path;
  const common = rows(`SELECT path FROM files WHERE ${code} AND lines BETWEEN 300 AND 600 ORDER BY path LIMIT 1`)[0]?.path ?? largest;
  const markdown = rows("SELECT path FROM files WHERE language = 'markdown' ORDER BY lines DESC LIMIT 1")[0]?.path;
  const entity = rows('SELECT key FROM entities ORDER BY key LIMIT 1')[0]?.key;
  const referenced = rows(`SELECT n.name, f.path, s.line, s.column FROM (SELECT name_id, count(*) AS files FROM reference_rows GROUP BY name_id ORDER BY files DESC LIMIT 300) c
    JOIN names n ON n.id = c.name_id JOIN symbols s ON s.name = n.name AND s.kind IN ('class', 'struct', 'function', 'interface') JOIN files f ON f.id = s.file_id ORDER BY c.files DESC LIMIT 1`)[0];
  const file = (path, rest = '') => `files?path=${encodeURIComponent(path)}${rest}`;
  return [
    ['search, empty', 'search', '.search .chip'],
    ['search, words', 'search?q=query+filter', '.hit .hl-keyword, .hit mark'],
    ['search, literal', 'search?q=return&mode=literal', '.hit'],
    ['search, regex', 'search?q=get_%5Cw%2B&mode=regex', '.hit'],
    ['tree', 'files', '.tree-row'],
    ['file', common && file(common), '.codeline span[class^=hl-]'],
    ['largest file of code', largest && file(largest), '.codeline span[class^=hl-]'],
    ['– at its last line', largest && file(largest, `&line=${rows(`SELECT lines FROM files WHERE path = '${largest}'`)[0].lines}`), '.codeline.is-line'],
    ['Markdown, rendered', markdown && file(markdown), '.markdown > *'],
    ['name, its definition', referenced && file(referenced.path, `&line=${referenced.line}&at=${referenced.line}:${referenced.column}`), '.references .ref-file', true],
    ['graph', 'graph', '.graph .node, .graph .nothing'],
    ['entity', entity && `graph?id=${entity}`, '.entity .markdown'],
    ['tags', 'tags', '.cloud a, .tags .nothing'],
    ['name, all references', referenced && file(referenced.path, `&line=${referenced.line}&at=${referenced.line}:${referenced.column}`), '.references .ref-group'],
    ['calls', 'calls', '.live'],
    ['overview', 'index', '.bars tr'],
  ].filter(([name, address]) => address && (!wanted || name.includes(wanted)));
}

/// Goes to a view, and waits until it can be used. Runs in the tab.
function show([hash, selector, timeout, isLoad, mayLoad]) {
  return new Promise((done, failed) => {
    // From the start of the navigation, or from here.
    const begun = isLoad ? 0 : performance.now();
    const isThere = () => {
      const main = document.querySelector('main');
      return main?.querySelector(selector) && (mayLoad || !main.querySelector('.pending, .is-asking')) && location.hash === hash;
    };
    const look = () => {
      if (performance.now() - begun > timeout) return failed(new Error(`${hash}: ${selector} is not there: ${document.body.innerText.slice(0, 400)}`));
      if (!isThere()) return requestAnimationFrame(look);
      // Drawn, and the next event is handled.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => (isThere() ? done(performance.now() - begun) : look());
        port2.postMessage(0);
      });
    };
    if (!isLoad) location.hash = hash;
    look();
  });
}

const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];

async function main() {
  console.error(ixmcp('sync').trim());
  ixmcp('daemon', 'start');
  const daemon = JSON.parse(ixmcp('daemon', 'status', '--json')).pid;
  const page = spawn(program, ['ui', '--no-open'], { cwd: tree, env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
  const address = await new Promise((done) => page.stdout.once('data', (text) => done(String(text).trim())));
  const executable = ['chromium', 'chromium-browser', 'google-chrome', 'chromium-headless-shell'].flatMap((name) => process.env.PATH.split(':').map((folder) => join(folder, name))).find(existsSync);
  const browser = await chromium.launch({ executablePath: executable, args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  const times = new Map();
  const note = (name, wall, tab, own) => times.set(name, [...(times.get(name) ?? []), [wall, tab, own]]);
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const all = views();
    for (let round = 0; round <= rounds; round += 1) {
      const tab = await context.newPage();
      const client = await context.newCDPSession(tab);
      await client.send('Performance.enable');
      const used = async () => (await client.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
      // The first load: as far as the search box has the focus, and as far as the examples are there.
      const before = cpu(page.pid) + cpu(daemon);
      await tab.goto(address, { waitUntil: 'commit' });
      const wall = await tab.evaluate(show, ['#/search', '#search-box:focus', TIMEOUT, true]);
      if (round) note('first load', wall, await used(), cpu(page.pid) + cpu(daemon) - before);
      await tab.locator('.search .chip').first().waitFor();
      const whole = await tab.evaluate('performance.now()');
      if (round) note('– with examples', whole, await used(), cpu(page.pid) + cpu(daemon) - before);
      for (const [name, view, selector, mayLoad] of all) {
        const [script, own] = [await used(), cpu(page.pid) + cpu(daemon)];
        const took = await tab.evaluate(show, [`#/${view}`, selector, TIMEOUT, false, mayLoad]);
        // The first round fills the caches of the system.
        if (round) note(name, took, (await used()) - script, cpu(page.pid) + cpu(daemon) - own);
        await tab.evaluate(() => new Promise((done) => setTimeout(done, 150)));
      }
      await tab.close();
    }
    const packed = ['', 'page.js', 'page.css'].map((file) => {
      const url = new URL(`/${file}`, address).href;
      return execFileSync('sh', ['-c', `curl -s '${url}' | gzip -9 | wc -c`], { encoding: 'utf8' }).trim();
    });
    console.log(`${tree}, load ${os.loadavg()[0].toFixed(1)}, ${rounds} rounds`);
    for (const [name, taken] of times) {
      const [walls, tabs, owns] = [0, 1, 2].map((at) => taken.map((one) => one[at]));
      console.log(`${name.padEnd(24)} median ${median(walls).toFixed(0).padStart(5)}  highest ${Math.max(...walls).toFixed(0).padStart(5)}  CPU: tab ${median(tabs).toFixed(0).padStart(5)}  program ${median(owns).toFixed(0).padStart(5)}`);
    }
    console.log(`first load ${packed.reduce((sum, one) => sum + Number(one), 0)} bytes compressed`);
  } finally {
    await browser.close();
    page.kill();
    ixmcp('daemon', 'stop');
    rmSync(base, { recursive: true, force: true });
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
