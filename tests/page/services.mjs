// services.mjs: of three services one is down, one is full, and one has routes
// instead of servers: the first sentence, the list, the one that is chosen.
import { look_from_all_sides } from './accessible.mjs';
import { held, hold, sentence_is } from './trouble.mjs';

const row = (page, name) => page.locator('#services tr', { hasText: name });

async function names_are(page, names, expect) {
  const seen = await page.locator('#services td.server').allInnerTexts();

  expect(seen.join() === names, `the worst is first: ${seen}`);
}

async function choose(page, name) {
  await row(page, name).locator('a').click();
  await page.waitForFunction((wanted) => new RegExp(wanted).test(
    document.getElementById('servers-title').textContent), `of ${name}$`);
}

async function all_together(page, { given, expect }) {
  const more = await page.locator('#verdict-more').innerText();

  expect(/mail: down, 0 of 1 servers up/.test(more), `its servers: ${more}`);
  expect(!/www/.test(more), `routes are not missing servers: ${more}`);
  await names_are(page, 'mail,shop,www', expect);
  expect(/Full: /.test(await row(page, 'shop').innerText()), 'which is full');
  expect(/\bup\b.*\u2013/s.test(await row(page, 'www').innerText()),
    'one with routes has no servers, and is up');
  expect(await page.locator('#tiles li', { hasText: 'Open sessions' })
    .locator('strong').innerText() === given.sessions, 'the sum of all');
  expect(/shop: sessions/.test(await page.locator('#limits li').first()
    .innerText()), 'the fullest limit names its service');
  expect(/mail: server 0/.test(await page.locator('#changes').innerText()),
    'a change names its service');
  expect(await page.locator('#servers-card').isHidden(), 'no servers yet');
}

async function one_by_one(page, { expect }) {
  // three keys from the page to the servers of what is worst
  await page.locator('body').click({ position: { x: 1, y: 1 } });
  for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
  await page.waitForFunction(() => /of mail$/.test(
    document.getElementById('servers-title').textContent));
  await page.waitForSelector('#servers tr.down');
  expect(await page.locator('#servers tr').count() === 1, 'of mail');
  expect(await page.evaluate(() => {
    const top = document.getElementById('servers-title')
      .getBoundingClientRect().top;

    return document.activeElement.id === 'servers-title' &&
      top >= 0 && top < innerHeight;
  }), 'its servers are what is seen, and what the next key goes on from');
  expect(/^Service mail is down/.test(
    await page.locator('#verdict-text').innerText()), 'the same sentence');
  expect(await page.locator('#tiles li', { hasText: 'Open sessions' })
    .locator('strong').innerText() === '0', 'totals of mail alone');
  await choose(page, 'www');
  expect(/its routes lead/.test(await page.locator('#nobody').innerText()),
    'no servers of its own');
  await choose(page, 'shop');
  await page.waitForSelector('#servers tr');
}

async function overview(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => /sums of all/.test(
    document.getElementById('whose-text').textContent));
}

// 300 services: one fails its clients, one has clients that wait, and the
// certificate of one expires.
function with_trouble(status) {
  const like = { ...status.services[0], state: 'up', up: 2, servers: 2,
    sessions: 1, sessions_max: 100, ended: 0, failed: 0 };

  status.services = Array.from({ length: 300 }, (_, i) =>
    ({ ...like, service: `s${100 + i}-${'x'.repeat(26)}` }));
  Object.assign(status.services[100], { service: 'fails', ended: 10,
    failed: 10, failed_most: 'server_reset' });
  Object.assign(status.services[101], { service: 'waits', queued: 2 });
  Object.assign(status.services[102], { service: 'ends',
    certificate: 'www.test', certificate_days: 3 });
  Object.assign(status.services[103], { service: 'part', state: 'degraded',
    up: 1 });
  Object.assign(status.services[104], { service: 'goes', state: 'leaving' });
  return status;
}

async function three_hundred(page, test) {
  const { expect, given } = test;

  await page.route('**/status.json*', async (route) => {
    try {
      await route.fulfill({
        json: with_trouble(await (await route.fetch()).json()) });
    } catch (e) {
      console.log(`not answered: ${e.message}`);
    }
  });
  await overview(page, given.url);
  await sentence_is(page, '^fails: all sessions of the last minute failed$',
    given);
  const more = await page.locator('#verdict-more').innerText();

  expect(/waits: 2 clients queued/.test(more), `waits: ${more}`);
  expect(/ends: the certificate of .www.test. expires in 3 days/.test(more),
    `ends: ${more}`);
  expect(/298 of 299 services are up/.test(more), `all but one: ${more}`);
  expect(await page.locator('#services tr').count() === 100, '100 rows');
  const first = await page.locator('#services td.server').allInnerTexts();

  expect(first.slice(0, 5).join() === 'fails,waits,part,ends,goes',
    `in this order: ${first.slice(0, 5)}`);
  expect(/And 200 more/.test(await page.locator('#whose-text').innerText()),
    'the others are counted');
  expect(await page.locator('#tiles li', { hasText: 'Open sessions' })
    .locator('strong').innerText() === '300', 'and are in the sums');
  await search_and_sort(page, expect);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}

// Beyond the first hundred, by column, and by name; and the address has it.
async function search_and_sort(page, expect) {
  const count = () => page.locator('#services tr').count();
  const first = () => page.locator('#services td.server').first().innerText();
  const head = (name) => page.locator('#services-heads button', {
    hasText: name }).click();

  await page.locator('#all-services').click();
  expect(await count() === 300, 'all of them');
  await head('Servers up');
  expect(await first() === 'ends', `by number, then name: ${await first()}`);
  await head('Failed');
  expect(await first() === 'fails', `which fail: ${await first()}`);
  expect(/100\s%/.test(await row(page, 'fails').innerText()), 'its share');
  await page.fill('#find-service', 'PART');
  await page.waitForFunction(() =>
    document.querySelectorAll('#services tr').length === 1);
  expect(await first() === 'part', 'found');
  expect(/find_service=PART/.test(page.url()) &&
    /service_key=Failed/.test(page.url()), `in the address: ${page.url()}`);
  await page.reload();
  await page.waitForFunction(() =>
    document.querySelectorAll('#services tr').length === 1);
  expect(await page.inputValue('#find-service') === 'PART', 'and stays');
  await page.fill('#find-service', 'none of them');
  await page.waitForFunction(() => /No matching services/.test(
    document.getElementById('whose-text').textContent));
}

export async function services(test) {
  const page = await test.open({ viewport: { width: 1280, height: 800 } });

  hold(test.given);
  await page.goto(test.given.url);
  await sentence_is(page, '^Service mail is down$', test.given);
  await page.waitForFunction((n) => document.getElementById('verdict-more')
    .textContent.includes(`shop: full: ${n} of ${n} sessions`),
  test.given.sessions);
  await all_together(page, test);
  await look_from_all_sides(page, 'services', test);
  await one_by_one(page, test);
  await look_from_all_sides(page, 'chosen', test);
  await page.locator('#overview').click();
  await page.waitForSelector('#overview', { state: 'hidden' });
  // One that is gone is a 404, which the browser complains about.
  page.removeAllListeners('console');
  await overview(page, `${test.given.url}?service=gone`);
  await three_hundred(page, test);
  held.forEach((s) => s.destroy());
}
