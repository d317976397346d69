import { request } from 'node:http';
import type { Attack } from '../attack.ts';
import { paced } from '../send.ts';

const PER_SECOND = 20;
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_dumpState', params: [] });

/** Readers of the local chain that hang up before they are answered, and a page of the web that calls it. */
export const chainReaders: Attack = {
  does: `${PER_SECOND} a second: large reads of the local chain whose reader hangs up`,
  async run({ rpcUrl, seconds }, sender, begin) {
    begin();
    await paced({ perSecond: PER_SECOND, seconds }, async () => {
      await hangUp(rpcUrl);
      sender.count('left');
    });
    const page = await read(rpcUrl, { origin: 'https://evil.example' });
    return [
      { text: 'the chain still answers', held: (await read(rpcUrl, {})) === 200 },
      { text: `a page of the web is refused (${page})`, held: page === 403 },
    ];
  },
};

const hangUp = (rpcUrl: string) =>
  new Promise<void>((resolve) => {
    const call = request(rpcUrl, { method: 'POST' });
    call.on('error', () => undefined);
    call.on('close', () => resolve());
    call.end(body, () => setImmediate(() => call.destroy()));
  });

async function read(rpcUrl: string, headers: Record<string, string>): Promise<number> {
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const signal = AbortSignal.timeout(10_000);
  const answer = await fetch(rpcUrl, { method: 'POST', body: call, headers, signal }).catch(() => null);
  return answer?.status ?? 0;
}
