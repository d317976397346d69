import { expect, it } from 'vitest';
import { GuardedFetchError } from '../../../lib/net/guarded-fetch-error.ts';
import type { Invocation } from '../../invocation.ts';
import { CallFailedError } from '../adapter.ts';
import { followA2aStream } from './a2a-stream.ts';
import { endOf } from './a2a-task-client.ts';
import { resultOfMessage } from './a2a-wire.ts';

const call = { invocation: {} as Invocation, answers: [] };
const unknown = { id: 't', contextId: null, message: null, at: '', artifacts: [], messageIds: [], usage: null };
const recorder = { add: async () => true, isTooMuch: () => false };
const event = (result: object) => Buffer.from(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`);
const part = (text: string, append: boolean) =>
  event({ artifactUpdate: { taskId: 't', append, artifact: { artifactId: 'result', parts: [{ text }] } } });

async function* streamOf(texts: readonly string[]) {
  for (const [index, text] of texts.entries()) yield part(text, index > 0);
  yield event({ statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } } });
}

async function resultOf(texts: readonly string[]) {
  const { task } = await followA2aStream(streamOf(texts), recorder, async () => undefined);
  return task && endOf(task, call);
}

it('a streamed result has at most 1 MiB, in however many pieces it comes', async () => {
  const piece = 'x'.repeat(60_000);
  expect(await resultOf([piece, piece])).toMatchObject({ kind: 'completed', result: { text: piece + piece } });
  const error = await resultOf(Array.from({ length: 18 }, () => piece)).catch((thrown: unknown) => thrown);
  expect(error instanceof CallFailedError && error.outcome).toMatchObject({ reason: 'response_too_large' });
});

it('a stream that breaks off leaves a task that can be asked for; without one, the call has no answer', async () => {
  async function* broken(...events: Buffer[]) {
    yield* events;
    throw new GuardedFetchError('reset');
  }
  const told: string[] = [];
  const record = async (taskId: string) => void told.push(taskId);
  const { task, outcome } = await followA2aStream(broken(part('half', false)), recorder, record);
  expect([task?.id, task?.state, outcome, told]).toEqual(['t', 'working', null, ['t']]);
  await expect(followA2aStream(broken(), recorder, record)).rejects.toMatchObject({ kind: 'reset' });
});

const piece = (parts: object[], append: boolean, artifactId = 'result') =>
  event({ artifactUpdate: { taskId: 't', append, artifact: { artifactId, parts } } });

it.each<[string, () => Generator<Buffer>]>([
  [
    'parts without a text, many at once',
    function* () {
      yield piece(Array(10_001).fill({}), false);
    },
  ],
  [
    'parts without a text, one after the other',
    function* () {
      for (let n = 0; n <= 10_000; n++) yield piece([{}], n > 0);
    },
  ],
  [
    'artifacts without parts',
    function* () {
      for (let n = 0; n <= 10_000; n++) yield piece([], false, `a${n}`);
    },
  ],
])('a stream has at most 10,000 parts and artifacts: %s', async (_name, events) => {
  async function* stream() {
    yield* events();
    yield event({ statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } } });
  }
  const error = await followA2aStream(stream(), recorder, async () => undefined).catch((thrown: unknown) => thrown);
  expect(error instanceof CallFailedError && error.outcome).toMatchObject({ reason: 'response_too_large' });
});

it('pieces of several artifacts come to the artifacts that they are of; one that is not appended is the artifact anew', async () => {
  async function* stream() {
    yield event({
      task: {
        ...{ id: 't', status: { state: 'TASK_STATE_WORKING' } },
        artifacts: [{ artifactId: 'a', parts: [{ text: 'a1' }] }],
      },
    });
    yield piece([{ text: 'b1' }], false, 'b');
    yield piece([{ text: 'a2' }, { text: 'a3' }], true, 'a');
    yield piece([{ text: 'c1' }], true, 'c');
    yield piece([{ text: 'b2' }], false, 'b');
    yield event({ statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } } });
  }
  const { task } = await followA2aStream(stream(), recorder, async () => undefined);
  expect(task && endOf(task, call)).toMatchObject({ kind: 'completed', result: { text: 'a1a2a3\nb2\nc1' } });
});

it('data beside texts is read once, however many texts there are', () => {
  let reads = 0;
  const data = {
    get said() {
      reads += 1;
      return 'x';
    },
  };
  expect(resultOfMessage([{ data }, ...Array(1000).fill({ text: 'x' })])).toBe(data);
  expect(reads).toBe(1);
});

const append = { '1.0': 'artifactUpdate', '0.3': 'artifact-update' };
const event03 = (kind: string, more: object) => event({ kind, taskId: 't', ...more });

it.each(['1.0', '0.3'] as const)(
  'texts of one artifact are one text, in a stream of %s as in its record',
  async (version) => {
    const update = (text: string, more: object) => {
      const artifact = { artifactId: 'a', parts: [version === '1.0' ? { text } : { kind: 'text', text }] };
      return version === '1.0'
        ? event({ [append[version]]: { taskId: 't', artifact, ...more } })
        : event03(append[version], { artifact, ...more });
    };
    async function* stream() {
      yield update('Hel', {});
      yield update('lo', { append: true });
      yield update(' you', { append: true, lastChunk: true });
      const status = { state: version === '1.0' ? 'TASK_STATE_COMPLETED' : 'completed' };
      yield version === '1.0'
        ? event({ statusUpdate: { taskId: 't', status } })
        : event03('status-update', { status, final: true });
    }
    const { task } = await followA2aStream(stream(), recorder, async () => undefined);
    expect(task && endOf(task, call)).toMatchObject({ kind: 'completed', result: { text: 'Hello you' } });
  },
);

it.each([
  ['pieces of a text', [{ text: 'Hel' }, { text: 'lo' }], { text: 'Hello' }],
  [
    'beside a file',
    [{ text: 'Hel' }, { text: 'lo' }, { url: 'https://x' }],
    { parts: [{ text: 'Hello' }, { url: 'https://x' }] },
  ],
])('texts of an artifact that is read as a whole are one text: %s', (_what, parts, result) => {
  const task = { ...unknown, state: 'completed', artifacts: [{ artifactId: 'a', parts }] };
  expect(endOf(task, call)).toMatchObject({ kind: 'completed', result });
});

it('a state that the node does not know cuts no stream, and is asked about again', async () => {
  async function* stream() {
    yield event({ task: { id: 't', status: { state: 'TASK_STATE_SUBMITTED' } } });
    yield event({ statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_PAUSED' } } });
    yield event({ newsOfTheNextVersion: { taskId: 't' } });
    yield piece([{ text: 'done' }], false);
    yield event({ statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } } });
  }
  const { task } = await followA2aStream(stream(), recorder, async () => undefined);
  expect(task && endOf(task, call)).toMatchObject({ kind: 'completed', result: { text: 'done' } });
  expect(endOf({ ...unknown, state: 'paused' }, call)).toBeNull();
});
