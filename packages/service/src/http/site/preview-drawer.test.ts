import { afterEach, expect, it, vi } from 'vitest';
import { previewSvg } from './preview-card.ts';
import { createPreviewDrawer } from './preview-drawer.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const card = (title: string) => ({ id: null, title, lines: ['0.05 USDC per request'], label: 'node' });

it('strangers cannot have pictures drawn without limit: those that wait, and those of a while, are bounded', async () => {
  let nowMs = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const drawer = createPreviewDrawer({ maxWaiting: 3, burst: 4 });
  const flood = await Promise.allSettled(
    Array.from({ length: 20 }, (_, at) => drawer.draw(card(`Agent ${at}`), `192.0.2.${at}`)),
  );
  expect(flood.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  const refused = flood.find(({ status }) => status === 'rejected');
  expect(refused).toMatchObject({ reason: { code: 'UNAVAILABLE' } });
  await drawer.draw(card('the fourth'), '192.0.2.1');
  await expect(drawer.draw(card('the fifth'), '192.0.2.1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const known = await drawer.draw(card('the fourth'), '192.0.2.1');
  expect(known.bytes.length).toBeGreaterThan(5000);
  expect(await drawer.draw(card('the fourth'), '192.0.2.1')).toBe(known);
  nowMs += 1000;
  await drawer.draw(card('the fifth'), '192.0.2.1');
  await expect(drawer.draw(card('the sixth'), '192.0.2.1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

it('one network address takes some of the drawings, and leaves the others theirs', async () => {
  const drawer = createPreviewDrawer({ burst: 4, burstOfAddress: 2 });
  const greedy = await Promise.allSettled(
    Array.from({ length: 9 }, (_, at) => drawer.draw(card(`${at}`), '192.0.2.1')),
  );
  expect(greedy.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  await expect(drawer.draw(card('0'), '192.0.2.1')).resolves.toMatchObject({ type: 'image/png' });
  await drawer.draw(card('another'), '192.0.2.2');
});

it('the name of a stranger is text in the picture, without markup, references or an end', () => {
  const svg = previewSvg({
    id: `agt_"><script>`,
    title: `</text><image href="file:///etc/passwd"/><style>*{}</style>&xxe;`,
    lines: ['<script>', 'x'.repeat(5000)],
    label: '"><use href="#a"/>',
  });
  expect(svg).not.toMatch(/<image|<style|<script|<use|&xxe|href="/);
  expect(svg.length).toBeLessThan(3000);
});

it.each([
  ['Summarizer', /Summarizer</],
  ['مترجم النصوص', /مترجم النصوص</],
  // The bundled font has none of these: they would be boxes.
  ['翻訳エージェント', /An agent</],
  ['Reader 読', /Reader</],
  ['W'.repeat(120), /W{5,}…</],
])('a picture of %j shows what its font can draw', (title, shown) => {
  expect(previewSvg(card(title))).toMatch(shown);
});
