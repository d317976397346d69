import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Harness, startHarness } from '../../support/harness.ts';

interface Statement {
  readonly name?: string;
  readonly text?: string;
  readonly values?: readonly unknown[];
}

const names: string[] = [];
/** The recurring jobs whose conditions were evaluated. */
const asked: string[] = [];
let h: Harness;

beforeAll(async () => {
  const original = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  // Before the node starts: a connection keeps the function that it was opened with.
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [first] = args as [string | Statement];
    const { name, text = '', values = [] }: Statement = typeof first === 'string' ? { text: first } : first;
    names.push(name ?? text);
    if (name === 'due-work') asked.push(...(values[2] as string[]));
    return original.apply(this, args);
  } as never);
  h = await startHarness();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await h.stop();
});

const MAX_A_SECOND = 30;

test('an idle node makes few statements: what has nothing to do is found out by one for all', async () => {
  names.length = 0;
  asked.length = 0;
  const count = (name: string) => names.filter((each) => each === name).length;
  const startMs = performance.now();
  // A heartbeat comes every two seconds.
  await expect.poll(() => count('process-touch')).toBeGreaterThanOrEqual(4);
  const seconds = (performance.now() - startMs) / 1000;
  const seen = names.length;
  expect(count('due-work')).toBeGreaterThan(2);
  // Those that did not look would each be claimed, and run, at every interval.
  expect(count('recurring-claim')).toBeLessThan(seconds + 2);
  // These ask about each agent whose owner holds its token.
  expect(asked.filter((name) => name === 'follow-owners').length).toBeLessThan(seconds / 10 + 2);
  expect(asked).toContain('check-agents');
  expect(seen / seconds).toBeLessThan(MAX_A_SECOND);
});
