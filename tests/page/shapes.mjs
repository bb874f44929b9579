// shapes.mjs: from no servers to a thousand, with short names and long ones.
const WIDTHS = [320, 800, 1000, 1024, 1280];

// The answer of pen, with n servers that are like its first.
function with_servers(status, n, long) {
  const like = status.servers[0];

  status.servers = Array.from({ length: n }, (_, i) => ({
    ...like,
    server: i,
    name: long ? `${'long-name'.repeat(28)}-${i}` : `web${i}.example.org`,
    addr: long ? `fe80::${'12ab:'.repeat(6)}${i}%${'eth'.repeat(5)}`
      : like.addr,
    state: i % 50 === 7 ? 'blacklisted' : 'up',
    reason: long ? 'Connection refused'.repeat(7) : 'answered',
    conn: i * (long ? 1e6 : 1),
    sx: long ? 1e18 : i,
    ...n === 60 && { http_5xx: i, http_errors: 0 },
  }));
  status.changes = status.servers.slice(0, long ? 20 : 0).map((s) => ({
    ...s, was: 'up', role: 'regular', time: s.since, ago_s: 1e6,
  }));
  return status;
}

async function fits(page, name, expect) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const wide = await page.evaluate(() => [...document.querySelectorAll('*')]
      .filter((e) => !e.closest('table, .only-spoken, svg') &&
        e.getBoundingClientRect().right > window.innerWidth + 1)
      .map((e) => e.outerHTML.slice(0, 80)));

    expect(wide.length === 0, `${name} fits ${width} pixels: ${wide}`);
    expect(await page.evaluate(() =>
      document.documentElement.scrollWidth <= window.innerWidth),
    `${name} has no scroll bar at ${width} pixels`);
    if (width >= 1000 && !/long/.test(name))
      expect(await page.evaluate(() => {
        const box = document.querySelector('.scroll');

        return box.scrollWidth <= box.clientWidth;
      }), `${name}: all columns are seen at ${width} pixels`);
  }
}

// Of sixty two are blacklisted: amber, and they come first; the column of HTTP
// fits, too.
async function sixty(page, expect) {
  const rows = page.locator('#servers tr');

  expect(await page.locator('#verdict.warn').count() === 1, 'two of 60: amber');
  expect(/blacklisted/.test(await rows.nth(1).innerText()) &&
    /up/.test(await rows.nth(2).innerText()), 'the worst come first');
  expect(await page.inputValue('#sort') === 'State', 'by this column');
  expect(await page.locator('#heads th', { hasText: '5xx' }).isVisible(),
    'a column of HTTP');
}

async function thousand(page, expect) {
  const rows = page.locator('#servers tr');

  expect(await rows.count() === 100, 'of 1,000 servers 100 are rows');
  expect(/blacklisted/.test(await rows.first().innerText()),
    'those with trouble come first');
  await page.locator('#find').fill('web123.');
  await page.waitForFunction(() =>
    document.querySelectorAll('#servers tr').length === 1);
  await page.locator('#find').fill('');
  await page.locator('#states button', { hasText: 'blacklisted' }).click();
  expect(await rows.count() === 20, 'of those 20 are blacklisted');
  await page.locator('#states button', { hasText: 'all' }).click();
  await page.locator('#all').click();
  expect(await rows.count() === 1000, 'all can be shown');
}

// An error of the page's own script is called so, not a silence of pen; the
// next status that it can show ends it.
async function fault(page, expect) {
  let broken = true;

  page.removeAllListeners('console');
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.route('**/status.json', async (route) => {
    const status = await (await route.fetch()).json();

    if (broken)
      status.servers = null;
    await route.fulfill({ json: status });
  });
  await page.waitForFunction(() => /^This page has a fault/.test(
    document.querySelector('#verdict-text').textContent));
  expect(/Reload/.test(await page.locator('#verdict-more').innerText()),
    'and what to do');
  expect(await page.locator('#fresh').textContent() === 'live', 'pen answers');
  broken = false;
  await page.waitForFunction(() => !/fault/.test(
    document.querySelector('#verdict-text').textContent));
}

export async function shapes({ given, expect, open }) {
  const page = await open({ viewport: { width: 1280, height: 800 } });
  let n = 0, long = false;

  // A request may end with the page that sent it.
  await page.route('**/status.json', async (route) => {
    try {
      const status = await (await route.fetch()).json();

      await route.fulfill({ json: with_servers(status, n, long) });
    } catch (e) {
      console.log(`not answered: ${e.message}`);
    }
  });
  for ([n, long] of [[0, false], [1, false], [60, false], [1000, false],
    [12, true]]) {
    const name = `${n}${long ? ' long' : ''}`;

    await page.goto(given.url);
    await page.waitForFunction((count) => document.querySelector('#states')
      .innerText.includes(`all ${count}`), n);
    expect(await page.locator('#nobody').isVisible() === (n === 0),
      `${name}: says whether there are servers`);
    await fits(page, name, expect);
    if (n === 60) await sixty(page, expect);
    if (n === 1000) await thousand(page, expect);
  }
  await fault(page, expect);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}
