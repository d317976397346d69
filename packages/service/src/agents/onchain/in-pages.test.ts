import { expect, it } from 'vitest';
import { inPages, type Page } from './in-pages.ts';

it.each([0, 1, 199, 200, 201, 450])('all of %i rows are used once, those that stay in the list too', async (count) => {
  const rows = Array.from({ length: count }, (_, index) => ({ id: `agt_${String(index).padStart(4, '0')}` }));
  const used: { id: string }[] = [];
  const list = async ({ after, limit }: Page) => rows.filter(({ id }) => id > after).slice(0, limit);
  await inPages(list, async (page) => void used.push(...page));
  expect(used).toEqual(rows);
});
