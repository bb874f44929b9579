// follows.mjs: what happens to servers is on the page soon, in elements that
// stay the same.
import { spawn } from 'node:child_process';
import http from 'node:http';
import { once } from 'node:events';

const ROUNDS = 3;

function server(given, address) {
  return spawn(given.pen, ['-f', '-O', 'dummy', address], { stdio: 'ignore' });
}

function ask(given) {
  http.get(`http://${given.front}/`, { agent: false }, (r) => r.resume())
    .on('error', () => {});
}

async function state_is(page, number, states) {
  await page.waitForFunction(([n, wanted]) => {
    const row = document.querySelectorAll('#servers tr')[n];
    return row && wanted.includes(row.querySelector('.state').textContent);
  }, [number, states], { polling: 20 });
}

// Kills server 1 and brings it back. Returns how many ms the page took for
// each.
async function round(page, given, servers) {
  let began = Date.now(), killed;

  servers[1].kill('SIGKILL');
  await state_is(page, 1, ['down', 'blacklisted', 'suspect']);
  killed = Date.now() - began;
  await state_is(page, 1, ['down']);
  servers[1] = server(given, given.server1);
  began = Date.now();
  await state_is(page, 1, ['up']);
  return [killed, Date.now() - began];
}

// Since then no row, tile or cell was made anew.
async function remember(page) {
  await page.evaluate(() => {
    window.known = [...document.querySelectorAll(
      '#servers tr, #servers td, #tiles li, #tiles path, #states button')]
      .filter((e) => document.contains(e));
    window.added = 0;
    new MutationObserver((list) => list.forEach((m) => {
      window.added += [...m.addedNodes].filter((n) => n.nodeType === 1).length;
    })).observe(document.getElementById('servers'),
      { childList: true, subtree: true });
  });
}

export async function follows({ given, expect, open }) {
  const page = await open({ viewport: { width: 1280, height: 800 } });
  const servers = [0, 1].map((i) => server(given, given[`server${i}`]));
  const traffic = setInterval(() => ask(given), 20);
  const soon = Number(given.soon);
  let best = [Infinity, Infinity];

  try {
    await page.goto(given.url);
    await state_is(page, 0, ['up']);
    await state_is(page, 1, ['up']);
    await remember(page);
    for (let i = 0; i < ROUNDS && Math.max(...best) >= soon; i++) {
      const took = await round(page, given, servers);

      console.log(`killed: ${took[0]} ms, back: ${took[1]} ms`);
      best = best.map((ms, k) => Math.min(ms, took[k]));
    }
    expect(Math.max(...best) < soon, `the page took ${best} ms`);
    expect(await page.evaluate(() => window.added) === 0, 'rows stay the same');
    expect(await page.evaluate(() => window.known.every((e) =>
      document.contains(e) || e.tagName === 'BUTTON')), 'elements stay');
    expect(/→ up, /.test(await page.locator('#changes').innerText()
      .then((t) => t.replace(/\s+/g, ' ').replace('up ,', 'up,'))),
    'the return is among the last changes');
    await page.waitForFunction(() =>
      Number(document.querySelectorAll('#tiles strong')[1].textContent) > 0);
    expect(page.requests.includes('/trend.json'), 'asks for the trend');
  } finally {
    clearInterval(traffic);
    servers.forEach((s) => s.kill('SIGKILL'));
    await Promise.all(servers.map((s) => s.exitCode !== null ||
      s.signalCode !== null || once(s, 'exit')));
  }
}
