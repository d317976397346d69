import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createChangeHub } from './change-hub.ts';
import type { Chunk } from './stream-store.ts';

const chunk = (position: number): Chunk => ({ position, type: 'invocation.chunk', data: {}, createdAt: new Date(0) });
const positions = (said: readonly Chunk[] | null) => said?.map(({ position }) => position) ?? null;

function watched() {
  const hub = createChangeHub();
  const watch = hub.watch('req_1');
  watch.takeSaid();
  return { hub, watch };
}

describe('a reader of a request', () => {
  it('is handed what was said since it last took it, in order and once', () => {
    const { hub, watch } = watched();
    hub.changed('req_1', [chunk(1), chunk(2)]);
    hub.changed('req_1', [chunk(3)]);
    hub.changed('req_2', [chunk(4)]);
    expect(positions(watch.takeSaid())).toEqual([1, 2, 3]);
    expect(positions(watch.takeSaid())).toEqual([]);
  });

  it('is sent to the database when anything else changed', () => {
    const { hub, watch } = watched();
    hub.changed('req_1', [chunk(1)]);
    hub.changed('req_1');
    hub.changed('req_1', [chunk(2)]);
    expect(watch.takeSaid()).toBeNull();
  });

  it('that does not come is not kept more and more', () => {
    const { hub, watch } = watched();
    for (let position = 1; position <= 9; position++) hub.changed('req_1', [chunk(position)]);
    expect(watch.takeSaid()).toBeNull();
    hub.changed('req_1', [chunk(10)]);
    expect(positions(watch.takeSaid())).toEqual([10]);
  });

  it('hears of a change that came before it waited, and of none when the time is up', async () => {
    const { hub, watch } = watched();
    hub.changed('req_1');
    expect(await watch.next(60_000)).toBe(true);
    expect(await watch.next(1)).toBe(false);
  });

  it('leaves nothing at the signal, whatever ended its wait', async () => {
    const { hub, watch } = watched();
    const { signal } = new AbortController();
    expect(await watch.next(1, signal)).toBe(false);
    const told = watch.next(60_000, signal);
    hub.changed('req_1');
    expect(await told).toBe(true);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('who waits is woken when the process is about to end', async () => {
    const hub = createChangeHub();
    const watch = hub.watch('req_1');
    const waiting = watch.next(60_000);
    hub.leave();
    expect(await waiting).toBe(false);
    expect(hub.hasLeft()).toBe(true);
  });
});
