import type { Attack } from '../attack.ts';
import { startHostileAgent, streams } from '../hostile-agent.ts';
import { paced, type Sender } from '../send.ts';

const PER_SECOND = 20;
const ACCEPT = { accept: 'text/event-stream' };
const GONE_AFTER_MS = 100;

/** HEAD on streams, and readers that hang up before or after the first byte. */
export const vanishedStreams: Attack = {
  does: `${PER_SECOND} a second: HEAD on live and stored streams, and streams left after ${GONE_AFTER_MS} ms`,
  async run({ rich: { apiKey: key }, seconds }, sender, begin) {
    const agent = await startHostileAgent(sender, { key, answer: streams(10, 1000) });
    const asked = { method: 'POST', path: `/invoke/${agent.id}`, key, headers: ACCEPT };
    const whole = await sender.send({ ...asked, body: { task: 'x', stream: true } });
    const requestId = /"requestId":"([^"]+)"/.exec(whole.text)?.[1] ?? '';
    begin();
    const acts = [
      () => sender.send({ method: 'HEAD', path: '/events', key, headers: ACCEPT }),
      () => sender.send({ method: 'HEAD', path: `/invoke/${requestId}/events`, key, headers: ACCEPT }),
      () => leave(sender, `GET /events`, key, ''),
      () => leave(sender, `POST /invoke/${agent.id}`, key, JSON.stringify({ task: 'x', stream: true })),
    ];
    await paced({ perSecond: PER_SECOND, seconds }, async (nth) => acts[nth % acts.length]?.());
    agent.stop();
    const status = await leave(sender, 'GET /events', key, '');
    return [{ text: 'afterwards the account opens a live stream of its events', held: status === '200' }];
  },
};

/** Asks for a stream and hangs up; resolves with the status, if one came by then. */
async function leave(sender: Sender, start: string, key: string, body: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = sender.dial();
  let status = 'left';
  socket.on('data', (part: Buffer) => {
    status = /^HTTP\/1\.1 (\d+)/.exec(part.toString('latin1'))?.[1] ?? status;
  });
  socket.once('close', () => resolve(status));
  socket.write(
    `${start} HTTP/1.1\r\nhost: node\r\nauthorization: Bearer ${key}\r\naccept: ${ACCEPT.accept}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  setTimeout(() => socket.destroy(), GONE_AFTER_MS);
  const ended = await promise;
  sender.count(ended);
  return ended;
}
