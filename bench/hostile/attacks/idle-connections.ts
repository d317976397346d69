import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Attack } from '../attack.ts';
import { paced, type Sender } from '../send.ts';

const PER_SECOND = 20;
const OF_ADDRESS = 256;
const MAX_OPEN = 400;
const HEADER_EVERY_MS = 2000;

/** Connections that say nothing, and some that say their headers a line every two seconds. */
export const idleConnections: Attack = {
  does: `${PER_SECOND} a second, up to ${MAX_OPEN}: connections that say nothing, or one header line every two seconds`,
  async run({ seconds }, sender, begin) {
    begin();
    const open = new Set<Socket>();
    let most = 0;
    await paced({ perSecond: PER_SECOND, seconds }, async (nth) => {
      if (open.size >= MAX_OPEN) return;
      idle(sender, open, nth % 2 === 0);
      most = Math.max(most, open.size);
    });
    await Promise.all([...open].map((socket) => once(socket.destroy(), 'close')));
    return [
      {
        text: `at most ${OF_ADDRESS} and those just being refused were open (${most})`,
        held: most <= OF_ADDRESS + PER_SECOND,
      },
    ];
  },
};

function idle(sender: Sender, open: Set<Socket>, isSlow: boolean): void {
  const socket = sender.dial();
  open.add(socket);
  let status = 'left';
  const timer = setInterval(() => isSlow && socket.write('x-slow: 1\r\n'), HEADER_EVERY_MS);
  if (isSlow) socket.write('GET /readyz HTTP/1.1\r\nhost: node\r\n');
  socket.on('data', (part: Buffer) => {
    status = /^HTTP\/1\.1 (\d+)/.exec(part.toString('latin1'))?.[1] ?? status;
  });
  socket.once('end', () => {
    if (status === 'left') status = 'broken';
  });
  socket.once('close', () => {
    clearInterval(timer);
    open.delete(socket);
    sender.count(status);
  });
}
