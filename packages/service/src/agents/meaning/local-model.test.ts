import { expect, test } from 'vitest';
import { createLocalModel, hasLocalModel, isReadable } from './local-model.ts';
import { ModelBusyError } from './text-model.ts';

test.each([
  ['translate to French', true],
  ['où est mon colis ?', true],
  ['ＪＳＯＮ to CSV', true],
  ['translate 日本', true],
  ['日本語のウェブページ JSON', false],
  ['где моя посылка', false],
  ['123 + 4', false],
  ['💥', false],
  ['', false],
])('"%s" is readable: %s', (text, isIt) => {
  expect(isReadable(text)).toBe(isIt);
});

test('reads texts of any length and content', async () => {
  expect(hasLocalModel()).toBe(true);
  const model = createLocalModel();
  const texts = ['a b', '\ud83d'.repeat(3), 'x'.repeat(100_000), '日本', 'word '.repeat(500), '\0a\u202e'];
  const vectors = await model.ofAgents(texts);
  expect(vectors.map((vector) => vector?.length ?? 0)).toEqual([512, 0, 512, 0, 512, 512]);
  expect(model.isQuick()).toBe(true);
});

test('of very many searches at a time, those that would wait are refused', async () => {
  const model = createLocalModel();
  const searches = Array.from({ length: 100 }, (_, nth) => model.ofSearch(`search number ${nth}`, 60_000));
  const settled = await Promise.allSettled(searches);
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(36);
  await Promise.all(Array.from({ length: 4 }, (_, nth) => model.ofSearch(`one more ${nth}`, 60_000)));
  const hasty = Array.from({ length: 60 }, (_, nth) => model.ofSearch(`hasty search ${nth}`, 1));
  const late = (await Promise.allSettled(hasty)).filter(({ status }) => status === 'rejected');
  expect(late.length).toBeGreaterThan(40);
  for (const each of late) expect(each).toHaveProperty('reason', expect.any(ModelBusyError));
  expect(await model.ofSearch('after them', 60_000)).toHaveLength(512);
});
