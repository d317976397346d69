import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { joinChunks } from '../admission/listen.ts';

const turn = () => new Promise(setImmediate);

/** A request whose body is announced by a header, and the connection that sends it. */
async function open(header: string): Promise<{ incoming: Promise<IncomingMessage>; socket: Socket }> {
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
  socket.setNoDelay().write(`POST / HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`);
  return { incoming: came.promise, socket };
}

/** A request whose body comes in chunks of one byte. */
async function receive(bytes: number): Promise<IncomingMessage> {
  const { incoming, socket } = await open('Transfer-Encoding: chunked');
  socket.write(`${'1\r\nx\r\n'.repeat(bytes)}0\r\n\r\n`);
  return incoming;
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

it.each([
  ['with a length', 'Content-Length: 2000', 'x'],
  ['in chunks', 'Transfer-Encoding: chunked', '1\r\nx\r\n'],
])('a body %s in packets of one byte is given to its reader in a few buffers', async (_, header, packet) => {
  const request = await open(header);
  const incoming = await request.incoming;
  const read = piecesOf(incoming);
  const headBytes = incoming.socket.bytesRead;
  for (let nth = 1; nth <= 2000; nth++) {
    request.socket.write(packet);
    while (incoming.socket.bytesRead < headBytes + nth * packet.length) await turn();
  }
  if (header.endsWith('chunked')) request.socket.write('0\r\n\r\n');
  const pieces = await read;
  expect(pieces.length).toBeLessThan(100);
  expect(Buffer.concat(pieces).toString()).toBe('x'.repeat(2000));
});

it('a larger one waits at its sender, and is read whole in the end', async () => {
  const incoming = await receive(300_000);
  while (incoming.readableLength < incoming.readableHighWaterMark) await turn();
  for (let nth = 0; nth < 100; nth++) await turn();
  expect(incoming.readableLength).toBeLessThan(3 * incoming.readableHighWaterMark);
  expect(Buffer.concat(await piecesOf(incoming))).toHaveLength(300_000);
});
