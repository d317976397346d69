import { expect, it } from 'vitest';
import { GuardedFetchError } from '../../../lib/net/guarded-fetch-error.ts';
import { CallFailedError } from '../adapter.ts';
import { followA2aStream } from './a2a-stream.ts';
import { endOf } from './a2a-task-client.ts';

const event = (result: object) => Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`);
const part = (text: string, append: boolean) =>
  event({ artifactUpdate: { taskId: 't', append, artifact: { artifactId: 'result', parts: [{ text }] } } });

async function* streamOf(texts: readonly string[]) {
  for (const [index, text] of texts.entries()) yield part(text, index > 0);
  yield event({ statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } } });
}

async function resultOf(texts: readonly string[]) {
  const recorder = { add: async () => true };
  const { task } = await followA2aStream(streamOf(texts), recorder, async () => undefined);
  return task && endOf(task);
}

it('a streamed result has at most 1 MiB, in however many pieces it comes', async () => {
  const piece = 'x'.repeat(60_000);
  expect(await resultOf([piece, piece])).toMatchObject({ kind: 'completed', result: { text: `${piece}\n${piece}` } });
  const error = await resultOf(Array.from({ length: 18 }, () => piece)).catch((thrown: unknown) => thrown);
  expect(error instanceof CallFailedError && error.outcome).toMatchObject({ reason: 'response_too_large' });
});

it('a stream that breaks off leaves a task that can be asked for; without one, the call has no answer', async () => {
  async function* broken(...events: Buffer[]) {
    yield* events;
    throw new GuardedFetchError('reset');
  }
  const recorder = { add: async () => true };
  const told: string[] = [];
  const note = async (taskId: string) => void told.push(taskId);
  const { task, outcome } = await followA2aStream(broken(part('half', false)), recorder, note);
  expect([task?.id, task?.state, outcome, told]).toEqual(['t', 'working', null, ['t']]);
  await expect(followA2aStream(broken(), recorder, note)).rejects.toMatchObject({ kind: 'reset' });
});
