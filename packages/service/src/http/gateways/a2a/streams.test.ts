import { expect, it } from 'vitest';
import { createChangeHub } from '../../../calls/stream/change-hub.ts';
import { followTask } from './streams.ts';
import type { StreamResponse } from './wire.ts';

const at = new Date('2026-01-01T00:00:00.000Z');
const waiting = { requestId: 'req_1', status: 'pending', createdAt: at.toISOString() } as const;
const running = { ...waiting, id: 'req_1', createdAt: at, deadline: at, startedAt: at, priceMicro: 0n };

it('a task that waited begins once, whatever its agent tells of its progress', async () => {
  const chunks = [
    { position: 1, type: 'invocation.status', data: { percent: 10 } },
    { position: 2, type: 'invocation.status', data: { status: 'processing', at: 'soon' } },
    { position: 3, type: 'invocation.chunk', data: { chunk: 'one' } },
  ];
  const sight = { invocation: running, chunks, isWhole: true, end: null };
  const streamPoller = { look: async () => sight, follow: () => ({ stop: () => undefined }) };
  const ctx = { changeHub: createChangeHub(), streamPoller } as unknown as Parameters<typeof followTask>[0];
  const events: StreamResponse[] = [];
  for await (const event of followTask(ctx, waiting, { network: 'n' }, new AbortController().signal)) {
    events.push(event);
    if ('artifactUpdate' in event) break;
  }
  const place = { taskId: 'req_1', contextId: 'ctx_1' };
  expect(events.slice(1)).toEqual([
    { statusUpdate: { ...place, status: { state: 'TASK_STATE_WORKING', timestamp: at.toISOString() } } },
    { artifactUpdate: { ...place, artifact: { artifactId: 'stream', name: 'stream', parts: [{ text: 'one' }] } } },
  ]);
});
