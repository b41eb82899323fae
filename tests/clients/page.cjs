// The page of `ixmcp ui` as a person uses it, in a real browser.
//
//   node page.cjs MODULES PLAN
//
// The plan has {browser, address, bare, large, group, pid, program, root, shots?}. `address` is of a page whose repository has a daemon, entities and
// tags; `bare` of one that has none of them; `large` of one with 2,502 entities; `group` of two repositories.
const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { check, go, now, plan, seen, tab, test, until, violations, walk } = require('./browser.cjs');

const ask = (tool, given) => {
  try {
    execFileSync(plan.program, ['call', tool, '--args', JSON.stringify(given), '--repo', plan.root], { stdio: 'pipe' });
  } catch {
    // A call that fails is shown as well.
  }
};

const VIEWS_TO_CHECK = [
  'search', 'search?q=cart&explain=1', 'search?q=zzzznowhere&mode=literal', 'files', 'files?path=deep/only/child/store.rs&line=2', 'files?path=docs/guide.md',
  'files?path=deep/only/child/store.rs&line=8&at=8:9', 'graph', 'graph?id=dec-1a2b3c', 'tags?tag=shop', 'calls', 'index',
];

const steps = {
  async 'the token leaves the address'(page) {
    await seen(page.locator('#search-box'), 'the search box');
    check(!page.url().includes('token'), page.url());
    check(await page.evaluate(() => history.length) <= 2, 'no step of the history has it');
  },

  async 'search as you type'(page) {
    await page.locator('#search-box').fill('');
    await page.locator('#search-box').pressSequentially('total price');
    check((await page.locator('#search-box').inputValue()) === 'total price', 'no letter is lost');
    await seen(page.locator('.hit', { hasText: 'shop.py' }), 'a hit');
    const marked = () => page.locator('.hit mark').allTextContents();
    await until(async () => (await marked()).some((text) => /price/i.test(text)), 'the words are marked');
    await page.getByText('Explain', { exact: true }).click();
    await seen(page.locator('.part.is-score'), 'what the score is made of');
    check((await page.locator('.hit').first().locator('.part').count()) > 2, 'several parts');
    await page.locator('#search-box').press('ArrowDown');
    await page.locator('#search-box').press('ArrowUp');
    await page.locator('#search-box').press('Enter');
    await until(() => page.url().includes('#/files?path='), 'Enter opens the hit');
    await page.goBack();
    await seen(page.locator('.hit'), 'the hits once more');
  },

  async 'every example finds something'(page) {
    await go(page, '#/search');
    await seen(page.locator('.chip').first(), 'an example');
    const examples = await page.locator('.chip').allTextContents();
    check(examples.length >= 2, `examples: ${examples}`);
    for (const example of examples) {
      await go(page, `#/search?q=${encodeURIComponent(example)}`);
      await seen(page.locator('.hit'), `a hit of ${example}`);
      check((await page.locator('.search .warn').count()) === 0, `${example} without a warning`);
    }
    await go(page, '#/search?q=lang%3Apyhton');
    await seen(page.getByText('Did you mean python?'), 'near values of a filter that matches nothing');
  },

  async 'exact search and its errors'(page) {
    await go(page, '#/search?q=items&mode=literal');
    await seen(page.locator('.hit', { hasText: 'shop.py' }), 'the line');
    await page.failing(async () => {
      await go(page, '#/search?q=(&mode=regex');
      await seen(page.locator('.problem', { hasText: 'INVALID_ARGUMENT' }), 'why the pattern is none');
      const words = await page.locator('.problem').innerText();
      check(/The pattern cannot be read/.test(words) && !/argument/i.test(words.replace('INVALID_ARGUMENT', '')), `in words for people: ${words}`);
    });
    await go(page, '#/search?q=zzzznowhere&mode=literal');
    await seen(page.getByText('Nothing found'), 'that nothing was found');
  },

  async 'a file with its chunks and symbols'(page) {
    await go(page, '#/files');
    await seen(page.locator('.tree-row', { hasText: 'src' }), 'a folder');
    await page.locator('.tree-row', { hasText: 'src' }).click();
    await page.locator('.tree-row', { hasText: 'shop.py' }).click();
    await seen(page.locator('.codeline', { hasText: 'class Cart' }), 'its text');
    await seen(page.locator('.facts', { hasText: '3 lines' }), 'how long it is');
    await seen(page.locator('.outline-row', { hasText: 'total_price' }), 'what it defines');
    await page.locator('.outline-row', { hasText: 'total_price' }).click();
    await seen(page.locator('.codeline.is-line', { hasText: 'def total_price' }), 'the line of a symbol');
    await seen(page.locator('.codeline.is-chunk'), 'the chunk that it is in');
    await go(page, '#/files?path=page.html');
    await seen(page.locator('.codeline', { hasText: '<img src=x onerror=alert(1)>' }), 'markup, as text');
    check((await page.locator('main img, main script, main iframe').count()) === 0, 'nothing of it is markup');
    await go(page, `#/files?path=${encodeURIComponent('docs/<b>odd & name.md')}`);
    await seen(page.locator('h1', { hasText: '<b>odd & name.md' }), 'an odd name, as text');
    await go(page, '#/files?path=long.txt');
    await seen(page.locator('.codeline', { hasText: 'more characters' }), 'a long line, cut');
    await page.failing(async () => {
      await go(page, '#/files?path=nowhere.py');
      await seen(page.locator('.problem', { hasText: 'INVALID_PATH' }), 'that there is no such file');
    });
  },

  async 'a folder with one folder in it is one row'(page) {
    await go(page, '#/files');
    const folded = page.locator('.tree-row', { hasText: 'deep/only/child' });
    await seen(folded, 'a chain of folders as one row');
    await folded.click();
    await page.locator('.tree-row', { hasText: 'store.rs' }).click();
    await seen(page.locator('.tree-row.is-current', { hasText: 'store.rs' }), 'the file in it');
    const bar = page.getByRole('separator', { name: 'Width of the tree' });
    const width = async () => (await page.locator('.tree').boundingBox()).width;
    const before = await width();
    await bar.focus();
    await page.keyboard.press('ArrowRight');
    await until(async () => (await width()) > before, 'the tree is wider by key');
    const at = await bar.boundingBox();
    await page.mouse.move(at.x, at.y + 100);
    await page.mouse.down();
    await page.mouse.move(at.x - 60, at.y + 100, { steps: 3 });
    await page.mouse.up();
    await until(async () => (await width()) < before, 'and narrower by pointer');
  },

  async 'an outline with kinds and methods under their types'(page) {
    await go(page, '#/files?path=deep/only/child/store.rs');
    const row = (name) => page.locator('.outline-row', { hasText: name });
    await seen(row('first_item').locator('.of', { hasText: 'method' }), 'a kind as a word');
    await seen(row('items').locator('.of', { hasText: 'field' }), 'another one');
    const indent = (name) => row(name).first().evaluate((element) => parseFloat(getComputedStyle(element).paddingInlineStart));
    check((await indent('first_item')) > (await indent('Store')), 'a method of an impl is under its type');
    check((await indent('checked')) === (await indent('Store')), 'a function is not');
  },

  async 'code is highlighted'(page) {
    await go(page, '#/files?path=deep/only/child/store.rs');
    const color = (text, name) => page.locator(`.codeline .hl-${name}`, { hasText: text }).first().evaluate((element) => getComputedStyle(element).color);
    for (const [text, name] of [['pub', 'keyword'], ['Comments are gray', 'comment'], ['"a string"', 'string'], ['first_item', 'function'], ['Store', 'type']]) {
      await seen(page.locator(`.codeline .hl-${name}`, { hasText: text }), `${text} as ${name}`);
    }
    check((await color('pub', 'keyword')) !== (await color('"a string"', 'string')), 'classes have colors');
    await go(page, '#/search?q=first_item');
    await seen(page.locator('.hit .hl-keyword', { hasText: 'pub' }), 'a highlighted hit');
    await seen(page.locator('.look .hl-keyword', { hasText: 'impl' }), 'a highlighted preview');
    await go(page, '#/search?q=size');
    await seen(page.locator('.look mark', { hasText: /^size$/ }), 'a marked word');
    const inside = await page.locator('mark').evaluateAll((all) => all.filter((mark) => /u$/.test(mark.previousSibling?.textContent ?? '')).length);
    check(inside === 0, 'a word is not marked within another');
  },

  async 'rendered Markdown'(page) {
    await go(page, '#/files?path=docs/guide.md');
    await seen(page.locator('.markdown h1', { hasText: 'Guide' }), 'a heading');
    await seen(page.locator('.markdown td', { hasText: 'a' }), 'a table');
    await seen(page.locator('.markdown pre .hl-keyword', { hasText: 'fn' }), 'highlighted code');
    await seen(page.locator('.markdown li', { hasText: '<script>alert(4)</script>' }), 'a script, as text');
    check((await page.locator('.markdown :is(script, img, iframe, [onclick], a[href^="javascript"])').count()) === 0, 'nothing harmful');
    await seen(page.locator('.markdown .image', { hasText: 'logo' }), 'an image by its text');
    await page.locator('.markdown a', { hasText: 'dec-1a2b3c' }).click();
    await seen(page.locator('.entity h2', { hasText: 'Carts' }), 'a link to an entity');
    await page.goBack();
    await page.locator('.markdown a', { hasText: 'the cart' }).click();
    await seen(page.locator('.codeline.is-line', { hasText: 'def total_price' }), 'a link to a line of a file');
    await go(page, '#/files?path=docs/guide.md');
    await page.locator('.markdown a', { hasText: 'store.rs:7' }).click();
    await seen(page.locator('.codeline.is-line', { hasText: 'pub fn first_item' }), 'a path in code as a link');
    await go(page, '#/files?path=docs/guide.md');
    await page.getByText('Raw', { exact: true }).click();
    await seen(page.locator('.codeline', { hasText: '|------|' }), 'its text');
    await page.getByText('Rendered', { exact: true }).click();
    await seen(page.locator('.markdown h1'), 'rendered again');
  },

  async 'references and callers of a name'(page) {
    await go(page, '#/files?path=deep/only/child/store.rs');
    await page.locator('.codeline .hl-function', { hasText: 'checked' }).first().click();
    await seen(page.locator('.references h2', { hasText: 'checked' }), 'the name that was clicked');
    await seen(page.locator('.references .refs', { hasText: 'fn checked(size: usize)' }), 'its definition');
    await seen(page.locator('.references .ref-group', { hasText: 'checked(self.items.len()' }), 'a reference with its line');
    await seen(page.locator('.references .precision', { hasText: 'names and imports' }), 'how it was resolved');
    await seen(page.locator('.calls-graph .call-name', { hasText: 'first_item' }), 'its caller');
    await page.locator('.references .ref-group .refs a', { hasText: 'checked(' }).first().click();
    await until(() => page.url().includes('line=8'), 'a reference opens its line');
    await page.getByLabel('Close references').click();
    await seen(page.locator('.outline-row'), 'the outline again');
  },

  async 'thousands of files'(page) {
    await go(page, '#/files');
    const box = page.getByLabel('Filter files');
    await box.fill('many file_2999');
    await seen(page.locator('.tree-row', { hasText: 'file_2999.txt' }), 'one of them');
    await box.fill('many/');
    await until(async () => (await page.locator('.tree-row').count()) > 10, 'many of them');
    check((await page.locator('.tree-row').count()) < 200, 'only those that are seen are there');
    await box.fill('');
  },

  async 'the graph'(page) {
    await go(page, '#/graph');
    const node = page.locator('.node[data-id="dec-1a2b3c"]');
    if (!(await seen(node, 'an entity'))) return;
    await node.click();
    await seen(page.locator('.entity h2', { hasText: 'Carts <i>sum</i> their items' }), 'what was clicked');
    check((await node.getAttribute('aria-pressed')) === 'true', 'it is chosen');
    await seen(page.locator('.entity .prose', { hasText: '<script>' }), 'its text, as text');
    await page.locator('.entity .relations a', { hasText: 'Sums are slow' }).click();
    await seen(page.locator('.entity h2', { hasText: 'Sums are slow' }), 'its neighbour');
    const where = () => page.locator('.canvas svg > g').getAttribute('transform');
    const before = await where();
    await page.getByLabel('Zoom in').click();
    await until(async () => (await where()) !== before, 'it zooms');
    const zoomed = await where();
    const box = await page.locator('.canvas').boundingBox();
    await page.mouse.move(box.x + 20, box.y + box.height - 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 80, box.y + box.height - 120, { steps: 4 });
    await page.mouse.up();
    await until(async () => (await where()) !== zoomed, 'it pans');
    await page.getByLabel('Show all').click();
    const covered = () => page.evaluate(() => {
      const names = [...document.querySelectorAll('.texts text:not(.of-edge)')].map((text) => text.getBoundingClientRect());
      const isIn = (name, { x, y }) => x > name.left + 2 && x < name.right - 2 && y > name.top + 2 && y < name.bottom - 2;
      // An arrow's tip, and its middle.
      const arrow = (line) => {
        const [x1, y1, x2, y2] = [line.x1, line.y1, line.x2, line.y2].map((at) => at.baseVal.value);
        const length = Math.hypot(x2 - x1, y2 - y1) || 1;
        return [0, 5].map((back) => new DOMPoint(x2 - ((x2 - x1) / length) * back, y2 - ((y2 - y1) / length) * back).matrixTransform(line.getScreenCTM()));
      };
      return [...document.querySelectorAll('.edge line')].filter((line) => arrow(line).some((point) => names.some((name) => isIn(name, point)))).length;
    });
    await until(async () => (await covered()) === 0, 'where each edge leads is seen, not under a name');
    await page.locator('.node[data-id="idea-77"]').focus();
    await page.keyboard.press('Enter');
    await seen(page.locator('.entity h2', { hasText: 'Cache the sums' }), 'one chosen by key');
    await page.getByLabel('Find an entity').fill('carts sum');
    await page.getByLabel('Find an entity').press('Enter');
    await seen(page.locator('.entity h2', { hasText: 'Carts' }), 'one that was looked for');
  },

  async 'the graph by layout, relationship, status and code'(page) {
    await go(page, '#/graph');
    await seen(page.locator('.node[data-id="iss-42aa"]'), 'an entity');
    const edges = () => page.locator('.edge').count();
    const before = await edges();
    const rel = page.locator('.rel', { hasText: 'relates to' });
    await rel.click();
    await until(async () => (await edges()) < before, 'a relationship is hidden by the legend');
    await rel.click();
    await until(async () => (await edges()) === before, 'and shown again');
    await page.locator('.view-options summary').click();
    await page.getByText('Layers', { exact: true }).click();
    const x = (id) => page.locator(`.node[data-id="${id}"]`).evaluate((node) => node.getBoundingClientRect().x);
    await until(async () => (await x('idea-77')) < (await x('iss-42aa')), 'layers follow the edges');
    await page.getByLabel('Status').selectOption('open');
    await until(async () => (await page.locator('.node').count()) === 1, 'only what is open');
    await page.getByLabel('Status').selectOption('');
    await page.getByText('Force', { exact: true }).click();
    await page.locator('.node[data-id="dec-1a2b3c"]').click();
    await seen(page.locator('.node rect'), 'the code that an entity names');
    await seen(page.locator('.legend .of-code', { hasText: 'code' }), 'code in the legend');
    await seen(page.locator('.rel', { hasText: 'names' }), 'and its edge');
    const ofCode = page.locator('.legend .of-code');
    await ofCode.click();
    await until(async () => (await page.locator('.node rect').count()) === 0, 'code is hidden by the legend');
    await ofCode.click();
    await seen(page.locator('.node rect'), 'and shown again');
    for (const [format, begin] of [['SVG', '<svg'], ['PNG', '\x89PNG']]) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByLabel(`Save as ${format}`).click()]);
      const bytes = readFileSync(await download.path(), 'latin1');
      check(bytes.startsWith(begin) && bytes.length > 1000, `a picture as ${format}: ${bytes.slice(0, 20)}`);
    }
    await page.locator('.view-options summary').click();
    const over = () => page.evaluate(() => {
      const boxes = (selector) => [...document.querySelectorAll(selector)].map((element) => element.getBoundingClientRect());
      const nodes = boxes('.node circle:first-child, .node rect');
      return boxes('.texts text:not(.of-edge)').filter((name) => nodes.some((node) =>
        name.left + 3 < node.right - 2 && name.right - 3 > node.left + 2 && name.top + 4 < node.bottom - 2 && name.bottom - 4 > node.top + 2)).length;
    });
    await page.getByLabel('Show all').click();
    await until(async () => (await over()) === 0, 'no name lies on a node');
  },

  async 'an entity that there is not'(page) {
    await page.failing(async () => {
      await go(page, '#/graph?id=dec-ffffff');
      await seen(page.locator('.entity .problem', { hasText: 'dec-ffffff' }), 'that there is none');
    });
    await page.getByLabel('Find an entity').fill('no such words');
    await seen(page.locator('.finder li', { hasText: 'No entity has this text' }), 'that none has the words');
    await page.getByLabel('Find an entity').fill('');
    await go(page, '#/graph?id=iss-42aa');
    await seen(page.locator('.entity h2', { hasText: 'Sums are slow' }), 'one that there is');
  },

  async 'tags'(page) {
    await go(page, '#/tags');
    await seen(page.locator('.cloud a', { hasText: '#shop' }), 'a tag');
    await page.locator('.cloud a', { hasText: '#shop' }).click();
    await seen(page.locator('.carriers a', { hasText: 'Carts' }), 'what carries it');
    await page.getByText('Documents', { exact: true }).click();
    await seen(page.locator('.cloud a', { hasText: '#manual' }), 'a tag of documents');
    await page.locator('.cloud a', { hasText: '#manual' }).click();
    await seen(page.locator('.carriers a', { hasText: 'README.md' }), 'the document');
  },

  async 'calls, as they happen'(page) {
    await go(page, '#/calls');
    await seen(page.locator('.live', { hasText: 'The daemon is running' }), 'that nobody asked anything: what this page asks is not shown');
    ask('query', { text: 'the needle of an agent', limit: 3 });
    ask('get_slice', { file_path: 'src/shop.py', start_line: 900, end_line: 901 });
    ask('get_symbol', { symbol_name: 'Cart' });
    await seen(page.locator('.log li', { hasText: 'the needle of an agent' }), 'a call');
    await seen(page.locator('.log li.is-bad', { hasText: 'INVALID_ARGUMENT' }), 'one that failed');
    await seen(page.locator('.times canvas'), 'how long they took');
    await page.locator('.log summary', { hasText: 'get_symbol' }).click();
    await seen(page.locator('.call-more a', { hasText: 'src/shop.py:1' }), 'where its answer begins');
    await page.locator('.chip', { hasText: 'get_symbol' }).click();
    await until(async () => (await page.locator('.log > li').count()) === 1, 'one tool alone');
  },

  async 'identical copies are one hit'(page) {
    await go(page, '#/search?q=refund%20policy');
    await seen(page.locator('.hit', { hasText: 'docs/v3/refunds.md' }).locator('.similar', { hasText: '2 more identical copies in docs' }), 'the newest one, and where the others are');
    check((await page.locator('.hit', { hasText: 'refunds.md' }).count()) === 1, 'no other one');
  },

  async 'what the repository is'(page) {
    await go(page, '#/index');
    const card = (title) => page.locator('.card', { has: page.locator('h2', { hasText: title }) });
    await seen(card('Largest folders').locator('th', { hasText: 'many/' }), 'a folder');
    await seen(card('Changed last').locator('a').first(), 'a file');
    await seen(card('Open').locator('a', { hasText: 'Sums are slow' }), 'an open issue');
    await seen(card('Asked today').locator('code', { hasText: 'get_symbol' }), 'what agents asked');
    await seen(card('Asked today').locator('bdi', { hasText: /^the needle of an agent$/ }), 'in their words alone');
    await seen(card('Latest commits').locator('.name', { hasText: 'Sell things' }), 'a commit');
  },

  async 'the index in numbers'(page) {
    await go(page, '#/index');
    await seen(page.locator('.tiles dt', { hasText: 'Entities' }), 'the numbers');
    await seen(page.locator('.bars th', { hasText: 'python' }), 'its languages');
    await seen(page.locator('.requests th', { hasText: 'get_symbol' }), 'what the daemon answered');
  },

  async 'keys and colours'(page) {
    await page.locator('main').focus();
    await page.keyboard.press('3');
    await seen(page.locator('.node'), 'the third view by its number');
    await page.keyboard.press('1');
    await seen(page.locator('#search-box'), 'the first');
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await back();
    await page.getByLabel(/^Colours/).click();
    await page.getByLabel(/^Colours/).click();
    await until(() => page.evaluate(() => document.documentElement.dataset.theme === 'dark'), 'dark is chosen');
    await until(async () => (await back()) !== light, 'dark is dark');
    await page.reload();
    await seen(page.locator('#search-box'), 'the page, loaded again with what this tab kept');
    await until(async () => (await back()) !== light, 'and still dark');
    await page.getByLabel(/^Colours/).click();
  },

  async 'accessible in light and dark'(page) {
    const colors = page.getByLabel(/^Colours/);
    // Nothing but contrast depends on the scheme.
    for (const [scheme, rules] of [['light', undefined], ['dark', ['color-contrast']]]) {
      while ((await page.evaluate(() => document.documentElement.dataset.theme)) !== scheme) await colors.click();
      for (const view of VIEWS_TO_CHECK) {
        await go(page, `#/${view}`);
        await page.waitForTimeout(400);
        await until(async () => (await page.locator('.pending, .is-asking').count()) === 0, `${view} is complete`);
        for (const { id, nodes } of await violations(page, rules)) check(false, `${view} in ${scheme}: ${id}: ${nodes.join(' | ')}`);
        check(true, view);
      }
    }
    while ((await page.evaluate(() => document.documentElement.dataset.theme)) !== undefined) await colors.click();
  },

  async 'little is loaded at first'(page) {
    const loaded = await page.evaluate(async () => {
      const packed = async (path) => {
        const { body } = await fetch(path);
        return (await new Response(body.pipeThrough(new CompressionStream('gzip'))).arrayBuffer()).byteLength;
      };
      return (await Promise.all(['/', '/page.js', '/page.css'].map(packed))).reduce((sum, one) => sum + one, 0);
    });
    check(loaded < 250_000, `${loaded} bytes, compressed`);
  },

  async 'widths'(page) {
    for (const [width, height] of [[390, 844], [768, 1024], [1280, 800]]) {
      await page.setViewportSize({ width, height });
      for (const view of ['search', 'search?q=cart&explain=1', 'files', 'files?path=src/shop.py&line=2', 'files?path=long.txt', 'graph', 'graph?id=dec-1a2b3c', 'tags?tag=shop', 'calls', 'index']) {
        await go(page, `#/${view}`);
        await page.waitForTimeout(250);
        const over = await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth) - innerWidth);
        check(over <= 0, `${view} is ${over} px too wide at ${width}`);
        if (!view.startsWith('graph')) continue;
        await until(() => page.evaluate(() => {
          const head = document.querySelector('.stage-head').getBoundingClientRect();
          return [...document.querySelectorAll('.node')].every((node) => node.getBoundingClientRect().top >= head.bottom);
        }), `${view}: no node is below the legend at ${width}`);
      }
    }
  },
};

async function run(browser) {
  const { context, page } = await tab(browser, plan.address, { viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  if (!(await walk(page, steps))) return;
  now('another tab');
  const second = await context.newPage();
  await second.goto(new URL('/#/index', plan.address).href);
  await seen(second.locator('.tiles'), 'a second tab is let in by the first');
  await second.close();

  now('another tab of a busy one');
  const third = await context.newPage();
  const busy = page.evaluate((ms) => { for (const end = Date.now() + ms; Date.now() < end; ); }, 2000);
  await third.goto(new URL('/#/index', plan.address).href);
  await seen(third.locator('.tiles'), 'a tab is let in however late the other answers');
  await busy;
  await context.close();

  now('without a token');
  const locked = await tab(browser, new URL('/', plan.address).href, {});
  await seen(locked.page.locator('.problem', { hasText: 'token' }), 'that it needs one');
  locked.page.mayFail = true;
  check((await locked.page.evaluate(() => fetch('/api/state').then((answer) => answer.status))) === 401, 'nothing is told');
  await locked.context.close();

  now('a graph of thousands');
  const large = await tab(browser, plan.large, { viewport: { width: 1280, height: 800 } });
  await go(large.page, '#/graph');
  await seen(large.page.locator('.stage-foot', { hasText: 'The 60 most connected of 2,502 entities, 3,334 edges' }), 'how much of it is drawn');
  check((await large.page.locator('.node').count()) === 60, 'no more are drawn');
  await go(large.page, '#/graph?id=iss-0007');
  await seen(large.page.locator('.entity h3', { hasText: '834' }), 'all that the most connected one is tied to');
  await large.page.getByLabel('Find an entity').fill('number 2000');
  await large.page.getByLabel('Find an entity').press('Enter');
  await seen(large.page.locator('.entity h2', { hasText: 'Number 2000' }), 'one that was not there before');
  await seen(large.page.locator('.node[data-id="iss-07d0"]'), 'it is drawn');
  check((await large.page.locator('.node').count()) === 30, 'with what is around it');
  await large.page.locator('.node[data-id="iss-0007"]').press('Enter');
  await until(async () => (await large.page.locator('.node').count()) > 30, 'which grows');
  await go(large.page, '#/tags?tag=odd');
  await seen(large.page.locator('.carriers', { hasText: 'and 950 more' }), 'how many more carry a tag');
  await large.context.close();

  now('several repositories');
  const group = await tab(browser, plan.group, { viewport: { width: 1280, height: 800 } });
  await group.page.locator('#search-box').fill('total price');
  await seen(group.page.locator('.hit', { hasText: 'invoice.py' }).locator('.repository', { hasText: 'billing' }), 'whose hit it is');
  await seen(group.page.locator('.hit', { hasText: 'basket.py' }).locator('.repository', { hasText: 'basket' }), 'and that of the other');
  await seen(group.page.locator('.repositories .chip', { hasText: 'All 2 repositories' }), 'all of them');
  const faults = await violations(group.page);
  check(faults.length === 0, JSON.stringify(faults));
  await group.page.locator('.repositories .chip', { hasText: 'billing' }).click();
  await until(async () => (await group.page.locator('.hit').count()) === 1, 'one repository alone');
  await seen(group.page.locator('.brand', { hasText: 'billing' }), 'which one is shown');
  await group.page.locator('.hit a').first().click();
  await seen(group.page.locator('.codeline', { hasText: 'def total_price_of_invoice' }), 'its file');
  await group.page.getByRole('link', { name: 'Overview' }).click();
  await seen(group.page.locator('main', { hasText: 'invoice.py' }), 'its overview');
  await go(group.page, '#/files?path=basket.py');
  await seen(group.page.locator('.codeline', { hasText: 'def total_price_of_basket' }), 'a file of the first one');
  await group.context.close();

  now('a bare repository');
  const bare = await tab(browser, plan.bare, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' });
  await seen(bare.page.locator('#search-box'), 'the search box');
  await bare.page.locator('#search-box').fill('alone');
  await seen(bare.page.locator('.hit', { hasText: 'only.py' }), 'a hit in an index made just now');
  await go(bare.page, '#/graph');
  await seen(bare.page.getByText('no entities yet'), 'that there are no entities');
  await go(bare.page, '#/tags');
  await seen(bare.page.getByText('No entity has a tag'), 'that there are no tags');
  await go(bare.page, '#/calls');
  await seen(bare.page.getByText('No calls to show'), 'that no daemon runs');
  await go(bare.page, '#/index');
  await seen(bare.page.getByText('the process of this page answers'), 'who answers instead');
  now('the program ends');
  bare.page.mayFail = true;
  process.kill(plan.pid);
  await seen(bare.page.locator('.problem', { hasText: 'does not answer' }), 'that nobody answers any more');
  await bare.context.close();
}

test(run);
