import { expect, it } from 'vitest';
import type { Store } from '../../store/database.ts';
import { listChangedAgents } from './list-changed-agents.ts';

/** A database with agents by the time of their change, in seconds, in which changes of the last five seconds may be followed by earlier ones. */
function startFeed() {
  const atSecond = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`;
  const rows: { id: string; changedAt: string }[] = [];
  let settledAt = '';
  const query = async (name: string, _text: string, [at, id, limit]: readonly [string, string, number]) => {
    if (name === 'settled-time') return [{ settledAt }];
    const isAfter = (row: (typeof rows)[number]) => row.changedAt > at || (row.changedAt === at && row.id > id);
    return rows
      .filter((row) => at === '-infinity' || isAfter(row))
      .sort((a, b) => (a.changedAt < b.changedAt ? -1 : 1))
      .slice(0, limit);
  };
  const ctx = { db: { query } } as unknown as Store;
  return {
    change: (id: string, second: number) => void rows.push({ id, changedAt: atSecond(second) }),
    async read(nowSecond: number, cursor: string) {
      settledAt = atSecond(nowSecond - 5);
      const page = await listChangedAgents(ctx, { cursor, limit: 1, maxBytes: 100 }, ({ id }) => ({ id, bytes: 1 }));
      return { ...page, ids: page.agents.map((agent) => agent.id) };
    },
  };
}

it('a change that appears before the page where a reader was interrupted is read when it goes on, however much later', async () => {
  const feed = startFeed();
  feed.change('agt_b', 11);
  feed.change('agt_c', 12);
  const first = await feed.read(12, '');
  expect([first.ids, first.hasMore]).toEqual([['agt_b'], true]);
  // Processes of before, beside new ones, take it too.
  expect(Buffer.from(first.cursor, 'base64url').toString()).toMatch(/^\d{4}-[\d-]{5}T[\d:.]{15}Z\|[0-9a-z_]{0,100}$/);
  feed.change('agt_a', 10);
  const second = await feed.read(40, first.cursor);
  expect([second.ids, second.hasMore]).toEqual([['agt_c'], false]);
  const third = await feed.read(41, second.cursor);
  expect(third.ids).toEqual(['agt_a']);
});

it('a reader of settled pages reads nothing twice', async () => {
  const feed = startFeed();
  feed.change('agt_a', 10);
  feed.change('agt_b', 11);
  const first = await feed.read(40, '');
  const second = await feed.read(41, first.cursor);
  expect([first.ids, second.ids]).toEqual([['agt_a'], ['agt_b']]);
  expect((await feed.read(42, second.cursor)).ids).toEqual([]);
});
