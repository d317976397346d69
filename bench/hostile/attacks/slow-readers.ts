import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import { answersWith, startHostileAgent, streams } from '../hostile-agent.ts';
import { type HostileAnswer, type HostileRequest, paced, type Sender } from '../send.ts';

const RESULTS = 30;
const RESULT_BYTES = 900_000;
const STREAM_CHUNKS = 250;
const CHUNK_BYTES = 60_000;
const OPEN_PER_SECOND = 4;
const MAX_OPEN = 240;

/** Clients that ask for what is large and then take no byte of it but the first. */
export const slowReaders: Attack = {
  does: `${OPEN_PER_SECOND} a second, ${MAX_OPEN} at a time: connections that ask for pages of large events, results of 900 kB and a stream of 15 MB, and stop reading`,
  async run({ rich: { apiKey: key }, seconds }, sender, begin) {
    const large = await startHostileAgent(sender, { key, answer: answersWith(RESULT_BYTES) });
    const streaming = await startHostileAgent(sender, { key, answer: streams(STREAM_CHUNKS, CHUNK_BYTES) });
    const ids: string[] = [];
    for (let nth = 0; nth < RESULTS; nth++) {
      const answer = await call(sender, large.id, key, { 'x-sync': 'true' });
      ids.push(answer.json().data.requestId);
    }
    const whole = await call(sender, streaming.id, key, { accept: 'text/event-stream' }, true);
    const streamId = /"requestId":"([^"]+)"/.exec(whole.text)?.[1] ?? '';
    const paths = [
      '/events?limit=100',
      `/invoke/${streamId}/events`,
      ...ids.slice(0, 2).map((id) => `/invoke/${id}?detail=true`),
    ];
    begin();
    const open: Socket[] = [];
    await paced({ perSecond: OPEN_PER_SECOND, seconds }, async (nth) => {
      if (open.length >= MAX_OPEN) open.shift()?.destroy();
      open.push(askAndStop(sender, paths[nth % paths.length] ?? '/', key));
    });
    for (const socket of open) socket.destroy();
    large.stop();
    streaming.stop();
    const after = await again(sender, { path: '/events?limit=1', key });
    return [{ text: 'when they are gone, the account reads its events again', held: after.status === 200 }];
  },
};

const call = (sender: Sender, agentId: string, key: string, headers: Record<string, string>, stream = false) =>
  sender.send({
    method: 'POST',
    path: `/invoke/${agentId}`,
    key,
    headers,
    body: { task: 'x', ...(stream ? { stream } : {}) },
  });

/** Asks once more when the node says to, if it does. */
async function again(sender: Sender, asked: HostileRequest): Promise<HostileAnswer> {
  const first = await sender.send(asked);
  if (first.status !== 429) return first;
  await sleep(Number(first.headers['retry-after']) * 1000);
  return sender.send(asked);
}

function askAndStop(sender: Sender, path: string, key: string): Socket {
  const socket = sender.dial();
  let isAnswered = false;
  socket.once('data', (part: Buffer) => {
    isAnswered = true;
    socket.pause();
    sender.count(/^HTTP\/1\.1 (\d+)/.exec(part.toString('latin1'))?.[1] ?? 'broken');
  });
  socket.once('close', () => {
    if (!isAnswered) sender.count('broken');
  });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: node\r\nauthorization: Bearer ${key}\r\n\r\n`);
  return socket;
}
