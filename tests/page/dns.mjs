// dns.mjs: of DNS: queries, answers by code and their time take the place of sessions.
import { look_from_all_sides } from './accessible.mjs';
import { sentence_is } from './trouble.mjs';

const tile = (page, name) => page.locator('#tiles li', { hasText: name })
  .locator('strong').innerText();

// What pen reports, of a last minute with these.
async function with_minute(page, servfail, answered) {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.route('**/status.json*', async (route) => {
    try {
      const status = await (await route.fetch()).json();

      Object.assign(status.minute,
        { dns_answered: answered, dns_servfail: servfail });
      await route.fulfill({ json: status });
    } catch (e) {
      console.log(`not answered: ${e.message}`);
    }
  });
}

export async function dns(test) {
  const { given, expect } = test;
  const page = await test.open({ viewport: { width: 1280, height: 800 } });

  await page.goto(given.url);
  await sentence_is(page, 'servers? are up$|server is up$', given);
  await page.waitForFunction((n) => new RegExp(`^noerror\\s+${n}$`, 'm').test(
    document.getElementById('ends').innerText), given.queries);
  expect(/^DNS answers$/.test(await page.locator('#ends-title').innerText()),
    'a list of answers');
  expect(await tile(page, 'SERVFAIL') === '0', 'none failed');
  expect(Number(await tile(page, 'Time to answer')) > 0, 'how long they took');
  expect(/^\d+$/.test(await tile(page, 'DNS queries')), 'queries a second');
  expect(await page.locator('#tiles li', { hasText: 'sessions' }).count() === 0,
    'no sessions');
  expect(/Answer p50/.test(await page.locator('#heads').innerText()),
    'times of servers are those of answers');
  expect(/\d/.test(await page.locator('#servers td.p50').first().innerText()),
    'of each server');
  await look_from_all_sides(page, 'dns', test);
  await with_minute(page, 30, 100);
  await sentence_is(page,
    '^30 % of the DNS answers of the last minute are SERVFAIL$', given);
  expect(await tile(page, 'SERVFAIL') === '30', 'its share');
  await with_minute(page, 2, 2);
  await sentence_is(page, 'servers? are up$|server is up$', given);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}
