// trouble.mjs: the first sentence says what is wrong: pen does not answer, its
// sessions fail, it is full.
import http from 'node:http';
import net from 'node:net';

export const held = [];

function front_of(given) {
  const at = given.front.lastIndexOf(':');

  return { host: given.front.slice(0, at), port: given.front.slice(at + 1) };
}

function ask(given) {
  http.get(`http://${given.front}/`, { agent: false }, (r) => r.resume())
    .on('error', () => {});
}

export function hold(given) {
  for (let i = 0; i < Number(given.sessions); i++)
    held.push(net.connect(front_of(given)).on('error', () => {}));
}

export async function sentence_is(page, pattern, given) {
  try {
    await page.waitForFunction((wanted) => new RegExp(wanted).test(
      document.getElementById('verdict-text').textContent),
    pattern, { polling: 50, timeout: 2 * Number(given.patience) });
  } catch (e) {
    throw new Error(`"${await page.locator('#verdict').innerText()}" is not ` +
      `"${pattern}": ${e.message}`);
  }
}

const troubles = {
  async stopped(page, given, expect) {
    process.kill(Number(given.pid), 'SIGSTOP');
    try {
      await sentence_is(page, '^No answer from pen for ', given);
      expect(/^pen( on .+)?: no answer$/.test(await page.title()), 'the title says it, too');
      expect(/no answer/.test(await page.locator('#live').innerText()),
        'it is not called live');
    } finally {
      process.kill(Number(given.pid), 'SIGCONT');
    }
    await sentence_is(page, 'servers are up$', given);
  },
  async failing(page, given, expect) {
    const traffic = setInterval(() => ask(given), 50);

    try {
      await sentence_is(page, '^(All|[0-9]+ % of the) sessions of the last ' +
        'minute failed$', given);
      expect(/most: server reset/.test(
        await page.locator('#verdict-more').innerText()), 'and why');
      expect(Number(await page.locator('#tiles li', {
        hasText: 'Failed sessions' }).locator('strong').innerText()) > 0,
      'there is a tile of it');
    } finally {
      clearInterval(traffic);
    }
  },
  async errors(page, given, expect) {
    const column = page.locator('#heads th', { hasText: '5xx' });
    const traffic = setInterval(() => ask(given), 50);

    expect(await column.isVisible(), 'there is a column of it');
    try {
      await sentence_is(page, '^All servers answer with errors \\(5xx\\)$',
        given);
      expect(/0 \S+ 100%, 1 \S+ 100%/.test(
        await page.locator('#verdict-more').innerText()), 'and which');
      expect(/100 % of the last minute are errors/.test(
        await page.locator('#servers tr').first().innerText()), 'so does its row');
      expect(Number(await page.locator('#servers td.fives').first()
        .innerText()) >= 3, 'they are counted');
    } finally {
      clearInterval(traffic);
    }
  },
  async full(page, given) {
    hold(given);
    await sentence_is(page, `^Full: ${given.sessions} of ${given.sessions} ` +
      'sessions$', given);
    held.forEach((s) => s.destroy());
    await sentence_is(page, 'servers are up$', given);
  },
};

// Each of its own pen, all at once, as most of it is waiting.
export async function trouble({ given, expect, open }) {
  const all = Object.keys(troubles).filter((name) => given[name]);

  expect(all.length === 4, `troubles of four pens: ${all}`);
  await Promise.all(all.map(async (name) => {
    const [web, front, pid] = given[name].split(',');
    const own = { ...given, url: `http://${web}/`, front, pid };
    const page = await open({ viewport: { width: 1280, height: 800 } },
      own.url);

    // What a stopped pen does not answer is what this is about.
    page.removeAllListeners('console');
    await page.goto(own.url);
    await sentence_is(page, 'servers are up$', own);
    await troubles[name](page, own, (holds, what) =>
      expect(holds, `${name}: ${what}`));
  }));
}
