// page.mjs: the live page in a browser, as tests/system/test_page.c starts it:
//
//     node page.mjs CASE,CASE.. NAME=VALUE...
//
// The cases run one after the other, in one browser, whose start takes seconds.
// Prints a line for each thing found; the exit status is 0 when all is well.
// PEN_NODE_MODULES names the directory with playwright-core and axe-core.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { accessible } from './accessible.mjs';
import { direct } from './direct.mjs';
import { dns } from './dns.mjs';
import { follows } from './follows.mjs';
import { services } from './services.mjs';
import { shapes } from './shapes.mjs';
import { strangers } from './strangers.mjs';
import { trouble } from './trouble.mjs';

const modules = createRequire(
  path.join(path.resolve(process.env.PEN_NODE_MODULES), 'page.js'));
const { chromium } = modules('playwright-core');
const cases = { accessible, direct, dns, follows, services, shapes, strangers,
  trouble };
const given = Object.fromEntries(process.argv.slice(3).map((word) => {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}));
let failures = 0, running = '';

function expect(holds, what) {
  if (!holds) {
    console.log(`${running}: not so: ${what}`);
    failures++;
  }
}

// A page whose errors and requests are noted. What is asked for elsewhere, and
// what the browser complains about, fails the test.
async function open(browser, options, home) {
  const context = await browser.newContext(options);
  const page = await context.newPage();

  page.requests = [];
  page.on('console', (m) => {
    expect(!['error', 'warning'].includes(m.type()), `console: ${m.text()}`);
  });
  page.on('pageerror', (e) => expect(false, `script: ${e.message}`));
  page.on('dialog', (d) => {
    expect(false, `dialog: ${d.message()}`);
    d.dismiss();
  });
  page.on('request', (r) => {
    const url = new URL(r.url());

    page.requests.push(url.pathname);
    expect(url.origin === new URL(home).origin || url.protocol === 'data:',
      `request to ${r.url()}`);
  });
  page.setDefaultTimeout(Number(given.patience));
  return page;
}

const browser = await chromium.launch({
  executablePath: given.chromium,
  args: ['--disable-gpu', '--disable-dev-shm-usage', '--no-proxy-server'],
});
const axe = fs.readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8');

for (running of process.argv[2].split(',')) {
  try {
    await cases[running]({
      given,
      expect,
      open: (options, home = given.url) => open(browser, options, home),
      axe,
    });
  } catch (e) {
    expect(false, e.stack);
  }
  // else its pages would go on asking
  await Promise.all(browser.contexts().map((context) => context.close()));
}
await browser.close();
process.exit(failures > 0 ? 1 : 0);
