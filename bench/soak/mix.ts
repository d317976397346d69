import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, createPayer } from '@agent-network/sdk';
import type { BenchSite, PayingAccount } from '../overload/site.ts';
import type { StopList } from '../stop-list.ts';

/** Kinds of calls, and how many of a hundred are of each. */
const shares = { treasury: 70, asynchronous: 10, stream: 10, x402: 4, channel: 6 } as const;
export type Kind = keyof typeof shares;
export type Act = () => Promise<void>;

const PER_CALL = '1';

export interface Mix {
  readonly acts: Readonly<Record<Kind, Act>>;
  /** Deliveries of webhooks that came. */
  readonly delivered: () => number;
}

/** Calls of all kinds by one account, each until its result is there; an asynchronous one has it delivered. */
export async function createMix(stops: StopList, site: BenchSite, account: PayingAccount): Promise<Mix> {
  const { baseUrl, chain } = site.service.local;
  const { apiKey, privateKey } = account;
  const receiver = await startReceiver(stops);
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'x-payment-method': 'treasury',
  };
  const post = async (more: object, fromTreasury: Record<string, string>): Promise<string> => {
    const body = JSON.stringify({ task: 'say', input: { text: 'soak' }, ...more });
    const url = `${baseUrl}/invoke/${site.echoId}`;
    const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...fromTreasury }, body });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${answer.status} ${text.slice(0, 300)}`);
    return text;
  };
  const ended = (text: string) => {
    if (!text.includes('completed')) throw new Error(`a call did not complete: ${text.slice(0, 300)}`);
  };
  const buying = (channels: false | { deposit: string; rpcUrl: string }) => {
    const client = createClient({
      baseUrl,
      apiKey,
      payer: createPayer({ privateKey, maxPerCall: PER_CALL, channels }),
    });
    const call = {
      params: { agentId: site.echoId },
      headers: { 'x-payment-method': 'x402', 'x-sync': 'true' },
      body: { task: 'say', input: { text: 'soak' } },
    } as const;
    return async () => ended(JSON.stringify(await client.invokeAgent(call)));
  };
  return {
    acts: {
      treasury: async () => ended(await post({}, { 'x-sync': 'true' })),
      asynchronous: async () => void (await post({ webhookUrl: receiver.url }, {})),
      stream: async () => ended(await post({ stream: true }, { accept: 'text/event-stream' })),
      x402: buying(false),
      channel: buying({ deposit: '20', rpcUrl: chain.rpcUrl }),
    },
    delivered: receiver.count,
  };
}

async function startReceiver(stops: StopList) {
  let count = 0;
  const server = createServer((message, response) => {
    message.resume().on('end', () => {
      count += 1;
      response.writeHead(200).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.add(async () => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, count: () => count };
}

export interface Tally {
  readonly done: Record<Kind, number>;
  readonly failed: Record<Kind, number>;
  /** The first errors, by their text. */
  readonly errors: Set<string>;
  /** Calls that were due while so many ran that no more were begun. */
  skipped: number;
}

const none = () => ({ treasury: 0, asynchronous: 0, stream: 0, x402: 0, channel: 0 });
export const newTally = (): Tally => ({ done: none(), failed: none(), errors: new Set(), skipped: 0 });
export const sumOf = (counts: Record<Kind, number>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

const AT_ONCE = 256;
const ERRORS = 5;

/** Begins so many calls a second, kinds in turn by their shares, until the signal; what is begun is waited for. */
export async function runMix(
  mix: Mix,
  { perSecond, until, tally }: { perSecond: number; until: AbortSignal; tally: Tally },
): Promise<void> {
  const order = orderOf();
  const running = new Set<Promise<void>>();
  const startMs = performance.now();
  for (let nth = 0; !until.aborted; ) {
    const due = Math.floor(((performance.now() - startMs) * perSecond) / 1000);
    for (; nth < due; nth++) {
      const kind = order[nth % order.length] as Kind;
      if (running.size >= AT_ONCE) {
        tally.skipped += 1;
        continue;
      }
      const one = actOnce(mix.acts[kind], kind, tally).finally(() => running.delete(one));
      running.add(one);
    }
    await sleep(5);
  }
  await Promise.all(running);
}

async function actOnce(act: Act, kind: Kind, tally: Tally): Promise<void> {
  try {
    await act();
    tally.done[kind] += 1;
  } catch (error) {
    tally.failed[kind] += 1;
    if (tally.errors.size < ERRORS) tally.errors.add(`${kind}: ${error instanceof Error ? error.message : error}`);
  }
}

/** A hundred kinds, each spread evenly. */
export function orderOf(): Kind[] {
  const sent = none();
  return Array.from({ length: 100 }, (_, nth) => {
    const behind = (kind: Kind) => (shares[kind] * (nth + 1)) / 100 - sent[kind];
    const [next] = (Object.keys(shares) as Kind[]).sort((a, b) => behind(b) - behind(a)) as [Kind, ...Kind[]];
    sent[next] += 1;
    return next;
  });
}
