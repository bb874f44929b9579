// direct.mjs: a director: whether it is active or a standby is in the first sentence, and
// frames take the place of sessions. What pen reports of it is replaced here: a test of
// the page needs no interface.
import { look_from_all_sides } from './accessible.mjs';
import { sentence_is } from './trouble.mjs';

const FRAMES = 1000;

// Of a service, or of the only one.
function counters_of(n) {
  return { accepted: 0, bytes_up: 0, bytes_down: 0, dsr_forwarded: n * FRAMES,
    dsr_forwarded_bytes: n * FRAMES * 100, dsr_fast_frames: 0,
    dsr_fast_bytes: 0, dsr_flows: 42, dsr_role_s: 130, dsr_standby: 0,
    dsr_dropped_not_local: 7, dsr_dropped_not_local_bytes: 700,
    dsr_dropped_no_server: 0 };
}

async function reports(page, dsr, change) {
  let n = 0;

  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.route('**/status.json*', async (route) => {
    try {
      const status = await (await route.fetch()).json();

      Object.assign(status.counters, counters_of(++n));
      status.servers.forEach((s) => { s.state = 'up'; });
      status.dsr = { interface: 'eth1', role: 'active', claimed_by: null,
        frame_rate: '0.0', byte_rate: 0, ...dsr };
      if (change) change(status);
      await route.fulfill({ json: status });
    } catch (e) {
      console.log(`not answered: ${e.message}`);
    }
  });
}

const claim = { claimed_by: '02:00:00:00:00:06',
  claimed_address: '192.0.2.10', claimed_s: 5 };
const tile = (page, name) => page.locator('#tiles li', { hasText: name });
const text = (page, id) => page.locator(`#${id}`).innerText();

async function is_active(page, test) {
  const { expect, given } = test;

  await reports(page, {});
  await page.goto(given.url);
  await sentence_is(page, '^Both servers are up$', given);
  expect(/direct return on eth1 for /.test(await text(page, 'about')),
    'what it is');
  await page.waitForFunction(() => /\d/.test([...document.querySelectorAll(
    '#tiles li')].find((li) => /Frames to servers/.test(li.innerText))
    .querySelector('strong').innerText.replace('0', '')));
  expect(/^Director active for 2 min$/.test(await text(page, 'verdict-more')),
    'and since when');
  expect(await tile(page, 'Flows').locator('strong').innerText() === '42',
    'flows');
  for (const none of ['Open sessions', 'New sessions', 'Time to first byte',
    'To clients'])
    expect(await tile(page, none).count() === 0, `no ${none}`);
  expect(/^Dropped frames/.test(await text(page, 'ends-title')), 'drops');
  expect(/^not local\s+7$/.test(await text(page, 'ends')),
    `by reason: ${await text(page, 'ends')}`);
  await look_from_all_sides(page, 'director', test);
}

async function stands_by(page, test) {
  const { expect, given } = test;

  await reports(page, { role: 'standby', ...claim });
  await page.goto(given.url);
  await sentence_is(page, '^Standby for 2 min$', given);
  const more = await text(page, 'verdict-more');

  expect(/02:00:00:00:00:06 claimed 192.0.2.10 5 s ago/.test(more),
    `who has it: ${more}`);
  expect(/Both servers are up/.test(more), `its servers: ${more}`);
  expect(await page.locator('#verdict.standby').count() === 1, 'it is not up');
  expect(/^pen( on .+)?: standby$/.test(await page.title()), await page.title());
  await look_from_all_sides(page, 'standby', test);
}

// What is wrong comes before the role.
async function is_in_trouble(page, test) {
  await reports(page, { role: 'standby', claimed_by: null }, (status) => {
    status.servers.forEach((s) => { s.state = 'down'; });
  });
  await page.goto(test.given.url);
  await sentence_is(page, '^No server is up$', test.given);
  test.expect(/Standby for 2 min \(no claim/.test(
    await text(page, 'verdict-more')), 'and the role');
  await reports(page, claim);
  await sentence_is(page, '^Another host claims a listening address$',
    test.given);
}

// Services of which some stand by.
async function among_others(page, test) {
  const { expect, given } = test;
  const service = (name, role, status) => ({ ...counters_of(1), service: name,
    state: role === 'standby' ? 'standby' : 'up', listen: '192.0.2.10:0',
    up: 2, servers: 2, sessions: 0, flows: 1, ended: 0, failed: 0, refused: 0,
    lines_lost: 0, answers: 0, first_byte_us: 0, panic: 0, queued: 0, role,
    role_s: 130, claimed_by: null, rate: status.rate });

  for (const [first, sentence] of [
    ['active', '^1 of 2 services is up, one is on standby$'],
    ['standby', '^All 2 services are on standby$']]) {
    await reports(page, {}, (status) => {
      status.services = [service('a', first, status),
        service('b', 'standby', status)];
    });
    await page.goto(given.url);
    await sentence_is(page, sentence, given);
    expect(/standby for 2\smin/.test(await text(page, 'services')),
      `since when: ${await text(page, 'services')}`);
  }
  expect(await page.locator('#verdict.standby').count() === 1, 'all of them');
}

export async function direct(test) {
  const page = await test.open({ viewport: { width: 1280, height: 800 } });

  await is_active(page, test);
  await stands_by(page, test);
  await is_in_trouble(page, test);
  await among_others(page, test);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
}
