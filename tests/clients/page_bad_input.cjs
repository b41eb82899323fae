// The page of `ixmcp ui` on repositories that contain anything, and while what it shows goes away.
//
//   node page_bad_input.cjs MODULES PLAN
//
// The plan has {browser, address, root, building, program, shots?}. `address` is of a page whose repository has the odd files that `page.rs` writes, at
// `root`; `building` of one whose repository is not indexed yet and takes a while.
const { execFileSync } = require('node:child_process');
const { readdirSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { check, go, now, plan, seen, tab, test, until, violations, walk } = require('./browser.cjs');

/// Characters that hide, or turn the direction of a text.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const file = (path, rest = '') => `#/files?path=${encodeURIComponent(path)}${rest}`;

/// Nothing in the page hides characters, nothing of a file has become markup.
async function isHarmless(page, where) {
  const text = await page.evaluate(() => [document.body.innerText, document.title, ...[...document.querySelectorAll('[title], [aria-label]')].flatMap((one) => [one.title ?? '', one.getAttribute('aria-label') ?? ''])].join('\n'));
  const hidden = HIDDEN.exec(text.replace(/[\n\t]/g, ' '));
  check(!hidden, `${where} has U+${hidden?.[0].charCodeAt(0).toString(16)} in ${JSON.stringify(text.slice(Math.max(0, (hidden?.index ?? 0) - 40), (hidden?.index ?? 0) + 20))}`);
  const markup = await page.locator('main :is(script, iframe, object, embed, form[action], style, link, meta, base, img:not(.brand img), [onload], [onclick], [onerror], [style*="url("]), main a[href^="javascript:" i], main a[href^="data:" i]').count();
  check(markup === 0, `${where} has markup of a file`);
}

const steps = {
  async 'a file that is not UTF-8'(page) {
    await go(page, file('latin.py'));
    await seen(page.locator('.codeline', { hasText: 'café' }), 'its text, decoded');
    await seen(page.locator('.facts', { hasText: /windows-1252|ISO-8859/i }), 'its encoding');
    await seen(page.locator('.codeline .hl-string', { hasText: 'café' }), 'its text, highlighted');
  },

  async 'a line of five megabytes'(page) {
    for (const path of ['five.js', 'five.txt', 'wide.txt']) {
      // The first two are larger than what is indexed.
      await page.failing(async () => {
        await go(page, file(path));
        await seen(page.locator('.file', { hasText: path }).locator('.codeline', { hasText: 'more characters' }), `${path}, cut`);
      });
      const lengths = await page.locator('.codeline .text').evaluateAll((lines) => lines.map((line) => line.textContent.length));
      check(lengths.every((length) => length < 4000), `${path}: little of the line is there: ${lengths}`);
      if (path.endsWith('.txt')) await seen(page.locator('.codeline', { hasText: 'last' }), `${path}: the line after it`);
    }
    await go(page, '#/search?q=needle&mode=literal');
    await seen(page.locator('.hit', { hasText: 'wide.txt' }), 'a hit in a long line');
    check((await page.locator('.hit .preview').first().evaluate((line) => line.textContent.length)) <= 200, 'its preview is short');
  },

  async 'names with markup, control and bidirectional characters'(page) {
    await go(page, '#/files');
    const row = page.locator('.tree-row', { hasText: 'names' });
    await seen(row, 'their folder');
    await row.first().click();
    await until(async () => (await page.locator('.tree-row').count()) > 5, 'the files in it');
    await isHarmless(page, 'the tree');
    await seen(page.locator('.tree-row', { hasText: '<img src=x onerror=alert(1)>.py' }), 'a name of markup, as text');
    await seen(page.locator('.tree-row', { hasText: 'turned\ufffdyp.exe' }), 'a name that would be turned');
    await page.locator('.tree-row', { hasText: 'turned\ufffdyp.exe' }).click();
    await seen(page.locator('h1', { hasText: 'turned\ufffdyp.exe' }), 'the file');
    await seen(page.locator('.codeline', { hasText: 'harmless_name' }), 'its text');
    await isHarmless(page, 'the file');
    await page.locator('.tree-row', { hasText: 'bell\ufffd.py' }).click();
    await seen(page.locator('h1', { hasText: 'bell\ufffd.py' }), 'another one');
    await go(page, '#/search?q=harmless_name');
    await seen(page.locator('.hit', { hasText: 'turned\ufffdyp.exe' }), 'a hit in it');
    await isHarmless(page, 'the hits');
    await page.locator('.hit', { hasText: 'turned\ufffdyp.exe' }).locator('a').click();
    await seen(page.locator('.codeline.is-line'), 'where the hit leads');
    await page.locator('.codeline .hl-function', { hasText: 'harmless_name' }).first().click();
    await seen(page.locator('.references .ref-file'), 'its definition');
    await isHarmless(page, 'the references');
    await go(page, '#/index');
    await seen(page.locator('.card', { hasText: 'Changed last' }), 'what changed last');
    await isHarmless(page, 'the overview');
  },

  async 'a tree of sixteen levels'(page) {
    await go(page, file(`${Array.from({ length: 16 }, (_, level) => `level_${level}`).join('/')}/deepest.py`));
    const row = page.locator('.tree-row.is-current', { hasText: 'deepest.py' });
    await seen(row, 'the file in the tree');
    const [name, tree] = await row.evaluate((row) => [row.querySelector('.name').getBoundingClientRect(), row.closest('.tree').getBoundingClientRect()].map(({ left, right }) => [left, right]));
    check(name[1] - name[0] > 60 && name[1] <= tree[1], `its name is readable: ${name} in ${tree}`);
  },

  async 'hostile Markdown and SVG'(page) {
    await go(page, file('hostile.md'));
    await seen(page.locator('.markdown h1', { hasText: 'Hostile' }), 'its heading');
    await seen(page.locator('.markdown', { hasText: 'the end of it' }), 'all of it');
    await isHarmless(page, 'the Markdown');
    const links = await page.locator('.markdown a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    check(links.every((href) => /^(https?:|mailto:|#\/)/.test(href)), `links: ${links}`);
    await go(page, file('hostile.svg'));
    await seen(page.locator('.codeline', { hasText: '<script>' }), 'the picture as text');
    await isHarmless(page, 'the picture');
    await go(page, '#/graph?id=dec-0bad');
    await seen(page.locator('.entity h2', { hasText: 'Turned' }), 'a hostile entity');
    await seen(page.locator('.entity .markdown'), 'its text');
    await isHarmless(page, 'the entity');
    await go(page, '#/tags');
    await seen(page.locator('.cloud a'), 'its tags');
    await isHarmless(page, 'the tags');
  },

  async 'an index that is built again while the page is open'(page) {
    await go(page, '#/search?q=harmless_name');
    await seen(page.locator('.hit'), 'a hit');
    execFileSync(plan.program, ['rebuild', '--repo', plan.root], { stdio: 'pipe' });
    await go(page, '#/search?q=deepest_function');
    await seen(page.locator('.hit', { hasText: 'deepest.py' }), 'a hit in the new index');
    await go(page, file('latin.py'));
    await seen(page.locator('.codeline', { hasText: 'café' }), 'a file of it');
  },

  async 'an index that is removed while the page is open'(page) {
    await page.failing(async () => {
      const folder = join(plan.root, '.ixmcp');
      for (const name of readdirSync(folder)) if (name.startsWith('index.db')) rmSync(join(folder, name));
      writeFileSync(join(plan.root, 'later.py'), 'def written_later():\n    pass\n');
      await go(page, '#/search?q=written_later');
      await seen(page.locator('.hit', { hasText: 'later.py' }), 'what was written since, in an index made again');
      for (const [view, shown] of [['files', '.tree-row'], ['graph', '.node'], ['tags', '.cloud a'], ['index', '.tiles']]) {
        await go(page, `#/${view}`);
        await seen(page.locator(shown), `${view} of it`);
      }
    });
    check((await page.locator('.problem').count()) === 0, 'no error stays');
  },

  async 'a laptop that slept'(page) {
    await go(page, '#/search?q=written_later');
    await seen(page.locator('.hit', { hasText: 'later.py' }), 'a hit');
    page.mayFail = true;
    await page.context().setOffline(true);
    await go(page, file('latin.py'));
    await seen(page.locator('.problem', { hasText: 'does not answer' }), 'that nothing answers');
    await seen(page.locator('.pending', { hasText: 'Waiting for the connection' }), 'that it waits');
    check((await page.locator('.problem').count()) === 1, 'that is said once');
    await page.context().setOffline(false);
    await seen(page.locator('.codeline', { hasText: 'café' }), 'what was asked for meanwhile, without another click');
    await until(async () => (await page.locator('.problem').count()) === 0, 'the error is gone');
    page.mayFail = false;
    // What was shown stays where only a refresh fails.
    await go(page, '#/index');
    await seen(page.locator('.tiles'), 'the overview');
    page.mayFail = true;
    await page.context().setOffline(true);
    await seen(page.locator('.problem', { hasText: 'does not answer' }), 'that nothing answers');
    check(await page.locator('.tiles').isVisible(), 'the numbers are still there');
    await page.context().setOffline(false);
    await until(async () => (await page.locator('.problem').count()) === 0, 'all is well again');
    page.mayFail = false;
    for (const { id, nodes } of await violations(page)) check(false, `${id}: ${nodes.join(' | ')}`);
  },
};

async function run(browser) {
  now('an index that is being built');
  const building = await tab(browser, plan.building, { viewport: { width: 1280, height: 800 } });
  await seen(building.page.locator('#search-box'), 'the search box');
  await building.page.locator('#search-box').fill('feedPenguins');
  await seen(building.page.locator('.indexing progress'), 'how far the index is');
  await seen(building.page.locator('.hit', { hasText: 'keeper.py' }), 'a hit in what is not indexed yet');
  const faults = await violations(building.page);
  check(faults.length === 0, JSON.stringify(faults));
  await go(building.page, '#/files');
  await seen(building.page.locator('.tree-row', { hasText: 'zoo' }), 'the tree of an index that is being built');
  await until(async () => (await building.page.locator('.indexing').count()) === 0, 'the index is complete');
  await seen(building.page.locator('.tree-head', { hasText: `${plan.files} files` }), 'all files, without another click');
  await building.context.close();

  const { context, page } = await tab(browser, plan.address, { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
  await walk(page, steps);
  await context.close();
}

test(run);
