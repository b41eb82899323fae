// What tests of the page in a real browser share: checks, tabs, and the accessibility rules.
//
// A test is `node TEST.cjs MODULES PLAN`: MODULES has playwright-core, and axe next to it axe-core; PLAN is a file of JSON with `browser` and what
// the test needs. It prints {failures, checks}.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const [modules, planFile] = process.argv.slice(2);
const { chromium } = require(join(modules, 'node_modules', 'playwright-core'));
const axe = readFileSync(join(modules, '..', 'axe', 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');
const plan = JSON.parse(readFileSync(planFile, 'utf8'));

const failures = [];
let checks = 0;
let at = 'start';
/// Names what is tested now.
const now = (name) => { at = name; };
function check(holds, what) {
  checks += 1;
  if (!holds) failures.push(`${at}: ${what}`);
}

/// Generous: only a broken page is waited for so long.
const TIMEOUT = 90_000;

/// What is seen before the timeout; a failure otherwise.
async function seen(locator, what) {
  try {
    await locator.first().waitFor({ state: 'visible', timeout: TIMEOUT });
    check(true, what);
    return true;
  } catch {
    check(false, `${what} is not seen`);
    return false;
  }
}

async function until(holds, what) {
  for (const end = Date.now() + TIMEOUT; Date.now() < end; ) {
    if (await holds()) return check(true, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  check(false, what);
}

const go = (page, hash) => page.evaluate((hash) => { location.hash = hash; }, hash);
/// A tab in which anything outside the page's own origin, and any complaint of the browser, is a failure.
async function tab(browser, address, options) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(TIMEOUT);
  const origin = new URL(address).origin;
  const page = await context.newPage();
  // Requests that fail are failures, except where a step expects them.
  page.mayFail = false;
  const open = new Set();
  context.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) failures.push(`${at}: it asked ${request.url()}`);
    // The page waits for changes all the time.
    if (!request.url().endsWith('/api/changes')) open.add(request);
  });
  const ended = (request, error) => {
    open.delete(request);
    if (error && !page.mayFail) failures.push(`${at}: ${request.url()}: ${error}`);
  };
  context.on('requestfinished', async (request) => {
    const response = await request.response().catch(() => null); // The tab may be closed by now.
    // The page repeats what it asks while the index is being built.
    ended(request, response && response.status() >= 400 && response.status() !== 503 && `status ${response.status()}`);
  });
  context.on('requestfailed', (request) => {
    const error = request.failure()?.errorText;
    // The page itself aborts a request that a newer one replaces.
    ended(request, error !== 'net::ERR_ABORTED' && error);
  });
  /// What `expected` leads to; by its end all its requests have failed or not.
  page.failing = async (expected) => {
    page.mayFail = true;
    await expected();
    await until(() => open.size === 0, 'every request is answered');
    page.mayFail = false;
  };
  page.on('pageerror', (error) => failures.push(`${at}: ${error.stack}`));
  page.on('dialog', () => failures.push(`${at}: a script of a file ran`));
  page.on('console', (message) => {
    // The browser itself logs every answer with an error's status, some time after it: see above.
    const isStatus = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isStatus) failures.push(`${at}: ${message.text()}`);
  });
  await page.goto(address);
  return { context, page };
}

/// The violations of levels A and AA that axe finds, or of the given rules.
async function violations(page, rules) {
  if (!(await page.evaluate('!!window.axe'))) await page.evaluate(axe);
  return page.evaluate(async (rules) => {
    const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const found = await window.axe.run(document, { runOnly: rules ? { type: 'rule', values: rules } : levels });
    const why = (node) => (node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? '';
    return found.violations.map(({ id, nodes }) => ({ id, nodes: nodes.slice(0, 3).map((node) => `${node.target.join(' ')}: ${why(node)}`) }));
  }, rules);
}

/// Runs the steps in one tab, up to the first that fails.
async function walk(page, steps) {
  for (const [name, step] of Object.entries(steps)) {
    at = name;
    const begun = Date.now();
    try {
      await step(page);
    } catch (error) {
      failures.push(`${at}: ${error.message}`);
    }
    console.error(`${Date.now() - begun} ms: ${name}`);
    if (failures.length) {
      // The steps after it would only wait for what does not come.
      if (plan.shots) await page.screenshot({ path: join(plan.shots, `${name.replaceAll(' ', '-')}.png`) });
      return false;
    }
  }
  return true;
}

/// Starts the browser for a test, and prints what it found.
function test(run) {
  const work = async () => {
    const browser = await chromium.launch({
      executablePath: plan.browser,
      timeout: TIMEOUT,
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    try {
      await run(browser);
    } finally {
      await browser.close();
    }
  };
  work()
    .catch((error) => failures.push(`${at}: ${error.stack}`))
    .finally(() => console.log(JSON.stringify({ checks, failures: [...new Set(failures)].slice(0, 40) })));
}

module.exports = { check, go, now, plan, seen, tab, test, until, violations, walk };
