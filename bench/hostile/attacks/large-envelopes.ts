import type { Attack } from '../attack.ts';
import { paced } from '../send.ts';

const PER_SECOND = 5;

const fields = Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`k${at}`, {}]));
const items = Array(300_000).fill({});
const accept = 'application/json, text/event-stream';
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
const clientInfo = { name: 'hostile', version: '1' };
const initialize = { protocolVersion: '2025-06-18', capabilities: { experimental: fields }, clientInfo };

const asked = [
  { path: '/mcp', headers: { accept }, body: rpc('initialize', initialize) },
  {
    path: '/a2a',
    headers: { 'a2a-version': '1.0' },
    body: rpc('SendMessage', { message: { ...message, metadata: fields } }),
  },
  { path: '/v1/chat/completions', headers: {}, body: { model: 'x', messages: [{ role: 'user', content: items }] } },
  { path: '/auth/challenge', headers: {}, body: { address: items } },
];

/** 1 MB without a key, of which nothing is the content of a call. */
export const largeEnvelopes: Attack = {
  does: `${PER_SECOND} a second, without a key: 1 MB of capabilities, metadata, parts and fields to each gateway`,
  async run({ seconds }, sender, begin) {
    begin();
    let taken = 0;
    await paced({ perSecond: PER_SECOND, seconds, atOnce: 30 }, async (nth) => {
      const { status } = await sender.send({
        method: 'POST',
        ...(asked[nth % asked.length] as (typeof asked)[number]),
      });
      if (status === 200) taken += 1;
    });
    return [{ text: `none was taken (${taken})`, held: taken === 0 }];
  },
};
