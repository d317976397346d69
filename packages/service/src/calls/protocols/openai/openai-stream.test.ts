import { expect, it } from 'vitest';
import type { Said } from '../../stream/record-chunks.ts';
import { followCompletion } from './openai-stream.ts';

const event = (content: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason }] })}\n\n`;

/** The outcome of a stream that comes at once, and the lengths of the chunks that were stored, by transaction. */
async function follow(deltas: readonly string[]) {
  const stored: number[][] = [];
  const add = async (said: readonly Said[]) => {
    stored.push(said.map(({ data }) => (data as { chunk: string }).chunk.length));
    return true;
  };
  async function* bytes() {
    yield Buffer.from(`${deltas.map((delta) => event(delta)).join('')}${event('', 'stop')}data: [DONE]\n\n`);
  }
  return { outcome: await followCompletion(bytes(), { add, isTooMuch: () => false }, () => false), stored };
}

it('deltas that come together are stored together, in chunks of at most 64 KiB', async () => {
  const texts = ['a', 'b', 'c'].map((letter) => letter.repeat(30_000));
  const { outcome, stored } = await follow(texts);
  expect(outcome).toMatchObject({ kind: 'completed', result: { text: texts.join(''), finishReason: 'stop' } });
  expect(stored).toEqual([[60_000, 30_000]]);
});

it.each([
  ['a delta of more than 64 KiB', ['x'.repeat(65_537)]],
  ['a text of more than 1 MiB', Array.from({ length: 18 }, () => 'x'.repeat(60_000))],
])('%s ends the call', async (_what, deltas) => {
  const { outcome } = await follow(deltas);
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'response_too_large' });
});
