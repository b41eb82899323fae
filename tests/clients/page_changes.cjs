// The page of `ixmcp ui` while its repository changes, and what a person looks for in a file, in a real browser.
//
//   node page_changes.cjs MODULES PLAN
//
// The plan has {browser, address, root, program, page, daemon?, shots?}: `address` is of a page whose repository is at `root` and has the
// files that `page_changes.rs` writes; `page` and `daemon` are the numbers of their processes.
const { execFileSync } = require('node:child_process');
const { mkdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { check, go, plan, seen, tab, test, until, violations, walk } = require('./browser.cjs');

const file = (path, rest = '') => `#/files?path=${encodeURIComponent(path)}${rest}`;
const save = (path, text) => writeFileSync(join(plan.root, path), text);
const run = (...words) => execFileSync(plan.program, words, { cwd: plan.root, stdio: 'pipe' }).toString();

/// How long it takes until something is seen.
async function after(locator, what) {
  const begun = Date.now();
  await seen(locator, what);
  console.error(`  ${Date.now() - begun} ms: ${what}`);
}

/// Ticks of processor time that the processes have had.
const ticks = () => [plan.page, plan.daemon].filter(Boolean).reduce((sum, pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1).trim().split(' ');
  return sum + Number(fields[11]) + Number(fields[12]);
}, 0);

/// Ticks of 10 ms in 4 s: 1 %.
const MOST_TICKS = 4;
// The page waits for changes, and asks once every five seconds whether a daemon runs.
const MOST_REQUESTS = 2;

const steps = {
  async 'an open file follows the disk'(page) {
    await go(page, file('src/shop.py'));
    await seen(page.locator('.codeline', { hasText: 'class Cart' }), 'its text');
    await seen(page.locator('.outline-row', { hasText: 'checkout' }), 'what it defines');
    const text = readFileSync(join(plan.root, 'src/shop.py'), 'utf8');
    save('src/shop.py', `${text}\n\ndef refund_the_customer():\n    return 1\n`);
    await after(page.locator('.codeline', { hasText: 'def refund_the_customer' }), 'what was saved');
    await seen(page.locator('.codeline .hl-function', { hasText: 'refund_the_customer' }), 'and its colours');
    await seen(page.locator('.outline-row', { hasText: 'refund_the_customer' }), 'and what it defines now');
    await seen(page.locator('.facts', { hasText: 'saved just now' }), 'when it was saved');
    rmSync(join(plan.root, 'src/shop.py'));
    await after(page.locator('.facts .warn', { hasText: 'deleted on disk' }), 'that it was deleted');
    check(await page.locator('.codeline', { hasText: 'class Cart' }).isVisible(), 'its last text stays');
    save('src/shop.py', text);
    await until(async () => (await page.locator('.facts .warn').count()) === 0, 'it is there again');
    await until(async () => (await page.locator('.codeline', { hasText: 'refund' }).count()) === 0, 'with the text that it has now');
  },

  async 'a rendered file follows the disk'(page) {
    await go(page, file('README.md'));
    await seen(page.locator('.markdown h1', { hasText: 'Shop' }), 'its heading');
    save('README.md', readFileSync(join(plan.root, 'README.md'), 'utf8').replace('# Shop', '# Bazaar'));
    await after(page.locator('.markdown h1', { hasText: 'Bazaar' }), 'its new heading');
  },

  async 'the tree follows the disk'(page) {
    await go(page, file('src/shop.py'));
    await seen(page.locator('.tree-row.is-current', { hasText: 'shop.py' }), 'the tree');
    save('src/later.py', 'def written_later():\n    pass\n');
    await after(page.locator('.tree-row', { hasText: 'later.py' }), 'a new file');
    mkdirSync(join(plan.root, 'newer/folder'), { recursive: true });
    save('newer/folder/inside.py', 'x = 1\n');
    await after(page.locator('.tree-row', { hasText: 'newer' }), 'a new folder');
    rmSync(join(plan.root, 'src/later.py'));
    rmSync(join(plan.root, 'newer'), { recursive: true });
    await until(async () => (await page.locator('.tree-row', { hasText: /later|newer/ }).count()) === 0, 'what was deleted is gone');
  },

  async 'nothing is done while nothing changes'(page) {
    await go(page, file('src/shop.py'));
    await seen(page.locator('.codeline', { hasText: 'class Cart' }), 'its text');
    const asked = [];
    page.on('request', (request) => asked.push(request.url()));
    // Earlier work ends first, such as embedding, or the answer to the last change.
    let used = Infinity;
    for (let tries = 0; tries < 10 && (used > MOST_TICKS || asked.length > MOST_REQUESTS); tries += 1) {
      asked.length = 0;
      const before = ticks();
      await page.waitForTimeout(4000);
      used = ticks() - before;
      console.error(`  ${used} ticks in 4 s, ${asked.length} requests`);
    }
    check(used <= MOST_TICKS, `${used} ticks of processor time in 4 s`);
    check(asked.length <= MOST_REQUESTS, `requests: ${asked}`);
  },

  async 'errors in words for people'(page) {
    await page.failing(async () => {
      await go(page, file('nothere.py'));
      await seen(page.locator('.problem', { hasText: 'nothere.py' }), 'which file is missing, as it is written');
      const words = await page.locator('.problem').first().innerText();
      check(!/[`]|list_files|index_files|Nothere/.test(words), words);
    });
    await page.failing(async () => {
      await go(page, '#/search?q=cart&mode=regex');
      await go(page, '#/search?q=(&mode=regex');
      await seen(page.locator('.problem', { hasText: 'INVALID_ARGUMENT' }), 'why the pattern cannot be read');
      check(!(await page.locator('.problem').innerText()).includes('`'), 'without backticks');
    });
  },

  async 'back from a hit, the hit is chosen'(page) {
    await go(page, '#/search?q=function_number');
    await seen(page.locator('.hit').nth(9), 'hits');
    const box = page.locator('#search-box');
    for (let at = 0; at < 8; at += 1) await box.press('ArrowDown');
    const chosen = await page.locator('.hit.is-current .place').innerText();
    check((await page.locator('#hit-8[aria-selected=true]').count()) === 1, 'the ninth hit is chosen');
    await box.press('Enter');
    await seen(page.locator('.codeline.is-line'), 'its file');
    await page.goBack();
    await seen(page.locator('#hit-8[aria-selected=true]'), 'it is still chosen');
    check((await page.locator('.hit.is-current .place').innerText()) === chosen, chosen);
    await box.evaluate(async (box) => {
      for (const key of ['ArrowDown', 'Enter']) {
        box.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
        await Promise.resolve(); // The page renders, but shows no frame.
      }
    });
    await seen(page.locator('.codeline.is-line'), 'the file of the next hit');
    await page.goBack();
    await seen(page.locator('#hit-9[aria-selected=true]'), 'a hit that was opened in the frame in which it was chosen is still chosen');
    await box.fill('function_number 7');
    await seen(page.locator('#hit-0[aria-selected=true]'), 'of another search, the first');
  },

  async 'keys'(page) {
    await go(page, '#/search');
    const box = page.locator('#search-box');
    await until(async () => (await box.inputValue()) === '', 'the box is empty');
    await box.focus();
    await page.keyboard.press('/');
    await page.keyboard.press('c');
    check((await box.inputValue()) === 'c', `the key that leads to the box is not typed: ${await box.inputValue()}`);
    await box.fill('');
    await page.locator('main').focus();
    await page.keyboard.press('?');
    await seen(page.locator('dialog.keys dd', { hasText: 'find in the whole file' }), 'the keys');
    for (const { id, nodes } of await violations(page)) check(false, `${id}: ${nodes.join(' | ')}`);
    await page.keyboard.press('Escape');
    await until(async () => (await page.locator('dialog').count()) === 0, 'they are closed');
    await go(page, file('src/shop.py', '&line=5&at=5:9'));
    await seen(page.locator('.references'), 'references');
    await page.keyboard.press('Escape');
    await until(async () => (await page.locator('.references').count()) === 0, 'Esc closes them');
    check(page.url().includes('line=5'), page.url());
  },

  async 'numbers and names are not cut'(page) {
    await go(page, '#/search?q=function_number_1499');
    await seen(page.locator('.look .codeline.is-line'), 'a preview');
    const number = await page.locator('.look .codeline.is-line .number').evaluate((cell) => {
      const text = document.createRange();
      text.selectNodeContents(cell);
      return { digits: cell.textContent, free: text.getBoundingClientRect().left - cell.getBoundingClientRect().left };
    });
    check(number.digits.length === 4 && number.free >= 3, `four digits do not touch the edge: ${JSON.stringify(number)}`);
    await go(page, file('src/shop.py', '&line=5&at=5:9'));
    const label = page.locator('.calls-graph text', { hasText: 'total_price_of_everything_in_it' });
    await page.getByRole('separator', { name: 'Width of the panel' }).focus();
    await page.keyboard.press('End');
    await seen(label, 'a long name, whole where the panel is wide');
    check((await page.locator('.calls-graph title', { hasText: 'checkout' }).count()) > 0, 'the own name has a tooltip');
    await go(page, file('src/long.py'));
    await page.getByRole('separator', { name: 'Width of the panel' }).focus();
    await page.keyboard.press('End');
    const row = page.locator('.outline-row', { hasText: 'function_number_0_with_a_long_name' });
    await seen(row, 'a long name in the list of symbols');
    check(((await row.getAttribute('title')) ?? '').includes('function_number_0_with_a_long_name'), 'with a tooltip');
    const cut = await row.locator('.name').evaluate((name) => name.scrollWidth > name.clientWidth + 1);
    check(!cut, 'it is not cut');
  },

  async 'footnotes have their numbers'(page) {
    await go(page, file('README.md'));
    await seen(page.locator('.footnote', { hasText: /1\.\s*Second\./ }), 'the first footnote is the one that is referred to first');
    await seen(page.locator('.footnote', { hasText: /2\.\s*First\./ }), 'and then the other');
    check((await page.locator('.markdown sup').allTextContents()).join() === '1,2', 'their references');
  },

  async 'find in a whole file'(page) {
    // It is too large to be indexed.
    await page.failing(async () => {
      await go(page, file('src/big.txt'));
      await after(page.locator('.codeline', { hasText: 'line 0 of a large file' }), 'a file of two megabytes');
    });
    await page.keyboard.press('Control+f');
    const find = page.locator('.find input[type=search]');
    await seen(find, 'the find bar');
    await find.fill('needle39999');
    await seen(page.locator('.find', { hasText: '1 of 1' }), 'how many there are');
    await seen(page.locator('.codeline.is-found mark', { hasText: 'needle39999' }), 'a line that was not in the page');
    await find.fill('NEEDLE1234');
    await seen(page.locator('.find', { hasText: '1 of 11' }), 'of several, the first');
    await find.press('Enter');
    await seen(page.locator('.codeline.is-found', { hasText: 'needle12340' }), 'the second');
    await find.press('Shift+Enter');
    await find.press('Shift+Enter');
    await seen(page.locator('.codeline.is-found', { hasText: 'needle12349' }), 'the last');
    await page.locator('.find').getByText('Aa').click();
    await seen(page.locator('.find', { hasText: 'Not found' }), 'case is matched');
    for (const { id, nodes } of await violations(page)) check(false, `${id}: ${nodes.join(' | ')}`);
    await find.press('Escape');
    await until(async () => (await page.locator('.find').count()) === 0, 'Esc closes it');
    await page.locator('.rows.code').focus();
    await page.keyboard.press('Control+a');
    await seen(page.locator('.code.is-all'), 'all of it is selected');
    const whole = readFileSync(join(plan.root, 'src/big.txt'), 'utf8');
    const copied = () => page.evaluate(() => {
      const event = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
      document.body.dispatchEvent(event);
      return event.clipboardData.getData('text/plain');
    });
    await until(async () => (await copied()) === whole, 'all of it is copied');
  },

  async 'an entity leads to its code and its ids'(page) {
    await go(page, '#/graph?id=dec-1a2b3c');
    await seen(page.locator('.entity .of-code a', { hasText: 'src/shop.py' }), 'the code that it names');
    await go(page, file('.ixchel/decisions/dec-1a2b3c.md'));
    await page.locator('.markdown .front a', { hasText: 'iss-42aa' }).click();
    await seen(page.locator('.entity h2', { hasText: 'Sums are slow' }), 'an id in front matter is a link');
  },

  async 'the header says when the daemon ends'(page) {
    if (!plan.daemon) return;
    await seen(page.locator('.daemon', { hasText: /^daemon$/ }), 'that it runs');
    run('daemon', 'stop');
    await after(page.locator('.daemon', { hasText: 'no daemon' }), 'that it does not');
    await go(page, file('src/shop.py'));
    await seen(page.locator('.codeline', { hasText: 'class Cart' }), 'a file, by the process of the page');
    save('src/shop.py', `${readFileSync(join(plan.root, 'src/shop.py'), 'utf8')}# after the daemon\n`);
    await after(page.locator('.codeline', { hasText: '# after the daemon' }), 'what was saved');
  },
};

async function all(browser) {
  const { context, page } = await tab(browser, plan.address, { viewport: { width: 1400, height: 860 }, colorScheme: 'light' });
  await seen(page.locator('#search-box'), 'the search box');
  await walk(page, steps);
  await context.close();
}

test(all);
