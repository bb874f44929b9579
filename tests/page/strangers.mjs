// strangers.mjs: what others have chosen is text on the page, and text alone.
export async function strangers({ given, expect, open }) {
  const page = await open({ viewport: { width: 1280, height: 800 } });

  await page.goto(given.url);
  await page.waitForFunction((n) =>
    document.querySelectorAll('#changes li').length >= n,
  Number(given.changes));
  const seen = await page.locator('main').innerText();

  for (const name of given.names.split('\n')) {
    expect(seen.split(name).length > 2, `${name} is shown twice: ${seen}`);
    expect((await page.locator('#servers').innerText()).includes(name),
      `${name} is in the table`);
    expect((await page.locator('#changes').innerText()).includes(name),
      `${name} is in the changes`);
  }
  expect(/web<U\+202E>live/.test(seen), 'nothing turns the direction');
  expect(!/[\u202a-\u202e]/.test(seen), 'no sign does that by itself');
  expect(await page.evaluate(() => window.hacked) === undefined,
    'nothing runs');
  expect(await page.locator('main :is(script, img, iframe, svg svg, ' +
    'a:not(#overview))').count() === 0, 'no elements come of names');
}
