import { expect, it } from 'vitest';
import { type MessagePart, messagesOf } from './exchange.ts';

async function* inPieces(bytes: Buffer, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

const read = async (text: string, length: number): Promise<MessagePart[]> =>
  Array.fromAsync(messagesOf(inPieces(Buffer.from(text), length), 1024));

it.each([1, 2, 3, 1000])('events in pieces of %i bytes are read whole, whatever ends their lines', async (length) => {
  const parts = await read('event: a\r\ndata: é€💥\r\n\r\ndata: b\rdata: c\r\rid: 1\ndata: d\n\n', length);
  expect(parts.flatMap(({ messages }) => messages)).toEqual([
    { event: 'a', data: 'é€💥' },
    { data: 'b\nc' },
    { id: '1', data: 'd' },
  ]);
});

it('a line that comes in small pieces is parsed some thousand bytes at a time, and is too large beyond 1 MiB', async () => {
  const parts = await read(`data: ${'x'.repeat(1024 * 1024 + 32 * 1024)}`, 64);
  expect(parts.length).toBeLessThan(100);
  expect(parts.map(({ isTooLarge }) => isTooLarge).indexOf(true)).toBeGreaterThan(60);
});
