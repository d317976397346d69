import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { readBody } from './answer-request.ts';

/** A request whose body comes in pieces of one byte. */
const inBytes = (body: Buffer) =>
  Object.assign(Readable.from(Array.from(body, (byte) => Buffer.of(byte))), {
    headers: {},
  }) as unknown as IncomingMessage;

it('a body in pieces of one byte is read whole, and held in few pieces: anybody may send it, before a signature is looked at', async () => {
  const body = Buffer.from(Array.from({ length: 20_001 }, (_, index) => index % 251));
  using concat = vi.spyOn(Buffer, 'concat');
  const read = await readBody(inBytes(body));
  const most = Math.max(...concat.mock.calls.map(([pieces]) => pieces.length));
  expect(read.equals(body)).toBe(true);
  expect(most).toBeLessThan(400);
});

it('a body above 1 MiB is refused with 413, however it comes', async () => {
  const pieces = Array.from({ length: 33 }, () => Buffer.alloc(32 * 1024));
  const request = Object.assign(Readable.from(pieces), { headers: {} }) as unknown as IncomingMessage;
  await expect(readBody(request)).rejects.toMatchObject({ status: 413 });
});
