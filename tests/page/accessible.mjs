// accessible.mjs: light and dark, wide and narrow: axe-core finds nothing, all
// is reached by the keyboard, and pictures are taken.
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const FOCUSABLE = 'a[href], button, input, select, [tabindex="0"]';

// Width and height of a PNG, and the first value of its first pixel, which no
// filter of the format changes.
function picture(file) {
  const bytes = fs.readFileSync(file), data = [];

  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at))
    if (bytes.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  return {
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
    first: zlib.inflateSync(Buffer.concat(data))[1],
    size: bytes.length,
  };
}

async function take_picture(page, name, { given, expect }, what, scheme) {
  const { width } = page.viewportSize();
  const file = path.join(given.pictures, `${what}-${width}-${scheme}.png`);

  await page.screenshot({ path: file, fullPage: true });
  const p = picture(file);

  expect(p.width === width, `${name}: a picture of ${p.width} pixels`);
  expect(p.height > 500 && p.size > 10000, `${name}: something is in it`);
  expect(scheme === 'dark' ? p.first < 60 : p.first > 200,
    `${name}: its background is ${p.first}`);
}

// Of the other scheme only colours differ. What is good is not listed: this takes
// a third of the time.
async function run_axe(page, name, { expect }, rules) {
  const { violations } = await page.evaluate((only) =>
    window.axe.run({ ...only && { runOnly: only },
      resultTypes: ['violations'], preload: false, iframes: false }), rules);

  for (const v of violations)
    expect(false, `${name}: axe: ${v.id}: ${v.help}: ` +
      v.nodes.map((n) => n.html).join(' ').slice(0, 500));
}

// Each element that can have the focus gets it by TAB, and shows that; between
// the last and the first one the browser has it.
async function walk(page, name, { expect }) {
  const all = await page.evaluate((focusable) => {
    window.unreached = new Set([...document.querySelectorAll(focusable)]
      .filter((e) => e.getClientRects().length > 0));
    return window.unreached.size;
  }, FOCUSABLE);

  for (let i = 0; i < all + 2; i++) {
    await page.keyboard.press('Tab');
    const seen = await page.evaluate(() => {
      const e = document.activeElement, style = getComputedStyle(e);

      window.unreached.delete(e);
      return e === document.body || style.outlineStyle !== 'none' &&
        parseFloat(style.outlineWidth) >= 2 ? '' : e.outerHTML.slice(0, 100);
    });
    expect(seen === '', `${name}: the focus is seen at ${seen}`);
  }
  expect(await page.evaluate(() => window.unreached.size) === 0,
    `${name}: the keyboard reaches all`);
  return all;
}

async function press_keys(page, { expect }) {
  await page.locator('th button', { hasText: 'Failures' }).focus();
  await page.keyboard.press('Enter');
  expect(await page.locator('th[aria-sort]').innerText() === 'Failures',
    'Enter sorts');
  await page.locator('#pause').focus();
  await page.keyboard.press('Space');
  expect(await page.locator('#fresh').innerText() !== 'live', 'Space pauses');
}

// What the page shows now, in all of these; the pictures' names begin with
// `what`.
export async function look_from_all_sides(page, what, test) {
  await page.evaluate(test.axe);
  for (const width of [1280, 375]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark']) {
      const name = `${what} ${width} ${colorScheme}`;

      await page.emulateMedia({ colorScheme });
      await run_axe(page, name, test,
        colorScheme === 'dark' ? ['color-contrast'] : null);
      await take_picture(page, name, test, what, colorScheme);
    }
    test.expect(await page.evaluate(() =>
      document.documentElement.scrollWidth <= window.innerWidth),
    `${what} ${width}: fits the width`);
    test.expect(await walk(page, `${what} ${width}`, test) > 6,
      `${what} ${width}: has controls`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

export async function accessible(test) {
  const page = await test.open({ viewport: { width: 1280, height: 800 } });

  await page.goto(test.given.url);
  await page.waitForSelector('#servers tr.down');
  test.expect(await page.locator('#verdict.warn').count() === 1,
    'one of two is down: amber');
  await look_from_all_sides(page, 'page', test);
  await press_keys(page, test);
}
