import { expect, it } from 'vitest';
import { createSendTurns, largeBody, PIECE_BYTES } from './large-body.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('large answers leave in pieces, two in a turn of the event loop, and clients take turns however much each asks for', async () => {
  const turn = createSendTurns();
  const left: string[] = [];
  for (let nth = 0; nth < 4; nth++) void turn('greedy').then(() => left.push('greedy'));
  void turn('other').then(() => left.push('other'));
  void turn('third').then(() => left.push('third'));
  expect(left).toEqual([]);
  const perTurn: number[] = [];
  while (left.length < 6) {
    const before = left.length;
    await settle();
    perTurn.push(left.length - before);
  }
  expect(Math.max(...perTurn)).toBe(2);
  expect(left).toEqual(['greedy', 'other', 'third', 'greedy', 'greedy', 'greedy']);
});

it('the pieces are the answer, and none is made before it is taken', async () => {
  const bytes = Buffer.alloc(3 * PIECE_BYTES + 5, 'abcdefg');
  let turns = 0;
  const reader = largeBody(bytes, 'x', async () => void turns++).getReader();
  await settle();
  expect(turns).toBe(0);
  const pieces: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  expect(pieces.map(({ byteLength }) => byteLength)).toEqual([PIECE_BYTES, PIECE_BYTES, PIECE_BYTES, 5]);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});
