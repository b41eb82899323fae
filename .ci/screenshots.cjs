// Pictures of the page's views: node screenshots.cjs MODULES BROWSER ADDRESS ENTITY FOLDER. `.ci/screenshots` starts it.
const { join } = require('node:path');

const [modules, executablePath, address, entity, folder] = process.argv.slice(2);
const { chromium } = require(join(modules, 'node_modules', 'playwright-core'));

const file = (path, rest = '') => `files?path=${encodeURIComponent(path)}${rest}`;
/// By the name of the picture: the address, what shows that the view is complete, and a key that is pressed then.
const VIEWS = {
  home: ['search', '#search-box'],
  keys: ['search', '#search-box', '?'],
  results: ['search?q=freshen', '.hit'],
  explained: ['search?q=path+resolver&explain=1', '.hit'],
  nothing: [`search?q=${'q'.repeat(7)}&mode=literal`, 'main'],
  rejected: ['search?q=(&mode=regex', '.problem'],
  tree: ['files', '.tree-row'],
  code: [file('src/store/mod.rs', '&line=40'), '.codeline'],
  find: [file('src/store/mod.rs'), '.codeline', 'Control+f'],
  markdown: [file('README.md'), '.markdown'],
  absent: [file('nothere.rs'), '.problem'],
  graph: ['graph', 'main svg'],
  entity: [`graph?id=${entity}`, '.entity'],
  tags: ['tags?tag=store', 'main'],
  calls: ['calls', 'main'],
  index: ['index', '.tiles'],
};
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

async function views(browser) {
  for (const colorScheme of ['light', 'dark']) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      const context = await browser.newContext({ viewport, colorScheme });
      const page = await context.newPage();
      await page.goto(address);
      await page.locator('#search-box').waitFor();
      for (const [name, [hash, complete, key]] of Object.entries(VIEWS)) {
        await page.evaluate((hash) => { location.hash = hash; }, `#/${hash}`);
        await page.locator(complete).first().waitFor();
        if (key) {
          await page.locator('main').focus();
          await page.keyboard.press(key);
        }
        await page.waitForLoadState('load');
        // Drawings settle, and colours follow the text.
        await page.waitForTimeout(700);
        const picture = join(folder, `${name}-${size}-${colorScheme}.png`);
        await page.screenshot({ path: picture });
        console.log(picture);
        if (key) await page.keyboard.press('Escape');
      }
      await context.close();
    }
  }
}

async function run() {
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
  const browser = await chromium.launch({ executablePath, args });
  try {
    await views(browser);
  } finally {
    await browser.close();
  }
}

run().catch((error) => {
  console.error(error);
  process.exit(1);
});
