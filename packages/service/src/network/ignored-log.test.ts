import { expect, it, vi } from 'vitest';
import { createIgnoredLog } from './ignored-log.ts';

it('entries of ten seconds are one line, in groups by reason and node, of which there is a maximum', () => {
  vi.useFakeTimers();
  const lines: unknown[][] = [];
  const ignored = createIgnoredLog({ info: (...line: unknown[]) => void lines.push(line) });
  const agent = (tokenId: string, baseUrl = 'https://gone.example') => ({ tokenId, kind: 'agent' as const, baseUrl });
  for (const tokenId of ['7', '8', '9']) ignored.record(agent(tokenId), 'unknown_node');
  for (let node = 0; node < 25; node++) ignored.record(agent('1', `https://${node}.example`), 'unreachable');
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(10_000);
  ignored.record(agent('7'), 'unknown_node');
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  const [first, second] = lines;
  expect(lines).toHaveLength(2);
  expect(first).toMatchObject([
    {
      groups: { length: 20, 0: { reason: 'unknown_node', baseUrl: 'https://gone.example', tokenId: '7', entries: 3 } },
      others: 6,
    },
    'registry entries ignored',
  ]);
  expect(second).toMatchObject([{ groups: [{ tokenId: '7', entries: 1 }] }, 'registry entries ignored']);
});
