import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { joinChunks } from './join-chunks.ts';

const turn = () => new Promise(setImmediate);

/** A request whose body comes in chunks of one byte. */
async function receive(bytes: number): Promise<IncomingMessage> {
  const came = Promise.withResolvers<IncomingMessage>();
  const server = createServer((incoming) => {
    joinChunks(incoming);
    came.resolve(incoming);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  socket.write(
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(bytes)}0\r\n\r\n`,
  );
  return came.promise;
}

/** What a reader is given, piece by piece. */
async function piecesOf(incoming: IncomingMessage): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  incoming.on('data', (piece: Buffer) => pieces.push(piece));
  await once(incoming, 'end');
  return pieces;
}

it('a body in chunks of one byte waits for its reader in a few buffers', async () => {
  const incoming = await receive(30_000);
  while (!incoming.complete) await turn();
  const pieces = await piecesOf(incoming);
  expect(pieces.length).toBeLessThan(100);
  expect(Buffer.concat(pieces).toString()).toBe('x'.repeat(30_000));
});

it('a larger one waits at its sender, and is read whole in the end', async () => {
  const incoming = await receive(300_000);
  while (incoming.readableLength < incoming.readableHighWaterMark) await turn();
  for (let nth = 0; nth < 100; nth++) await turn();
  expect(incoming.readableLength).toBeLessThan(3 * incoming.readableHighWaterMark);
  expect(Buffer.concat(await piecesOf(incoming))).toHaveLength(300_000);
});
