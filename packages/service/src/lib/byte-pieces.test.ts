import { expect, it, onTestFinished, vi } from 'vitest';
import { createBytePieces } from './byte-pieces.ts';

it('keeps a megabyte of single bytes in some thousand buffers, and every byte in its place', () => {
  const sent = Buffer.from(Array.from({ length: 1024 * 1024 }, (_, at) => at % 251));
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => void concat.mockRestore());
  const pieces = createBytePieces();
  for (let at = 0; at < sent.length; at++) pieces.add(sent.subarray(at, at + 1));
  expect(pieces.byteLength).toBe(sent.length);
  expect(pieces.take().equals(sent)).toBe(true);
  expect(Math.max(...concat.mock.calls.map(([parts]) => parts.length))).toBeLessThan(5000);
  expect([pieces.byteLength, pieces.take().byteLength]).toEqual([0, 0]);
});

it('hands a single piece on as it is', () => {
  const pieces = createBytePieces();
  const piece = Buffer.alloc(5, 'whole');
  pieces.add(piece);
  const taken = pieces.take();
  expect([taken.toString(), taken.buffer === piece.buffer]).toEqual(['whole', true]);
});

it('holds none of what lies around a piece in the memory that it is a view into', () => {
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => void concat.mockRestore());
  const pieces = createBytePieces();
  for (let nth = 0; nth < 255; nth++) pieces.add(Buffer.alloc(65_536, 'x').subarray(0, 1));
  expect(pieces.take().toString()).toBe('x'.repeat(255));
  const held = concat.mock.calls[0]?.[0] ?? [];
  expect(held.reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0)).toBe(255);
});
