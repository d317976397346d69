import { expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import type { Invocation } from '../invocation.ts';
import { createRunner } from './runner.ts';

const limits = { max: 8, maxPerTenant: 1, maxPerAgent: 4, maxWaiting: 3 };
const request = (id: string) => ({
  ...{ id, accountId: 'a', agentId: 'x', callerAgentId: null },
  deadline: new Date(Date.now() + 60_000),
});

it('work that enters as soon as it is tracked takes a slot, or waits until there is one', async () => {
  const runner = createRunner(limits, { clock: systemClock });
  const ends = new Map<string, () => void>();
  const began: string[] = [];
  const track = (id: string) =>
    runner.track(
      request(id),
      async (signal) => {
        await runner.enter(request(id), signal);
        began.push(id);
        await new Promise<void>((resolve) => ends.set(id, resolve));
        return { id } as Invocation;
      },
      { entersLater: true },
    );
  const [first, second] = [track('first'), track('second')];
  await expect.poll(() => began).toEqual(['first']);
  expect([runner.hasWaiting(), runner.waitingOf('a')]).toEqual([true, 1]);
  ends.get('first')?.();
  await first;
  await expect.poll(() => began).toEqual(['first', 'second']);
  expect([runner.hasWaiting(), runner.waitingOf('a')]).toEqual([false, 0]);
  ends.get('second')?.();
  await second;
});
