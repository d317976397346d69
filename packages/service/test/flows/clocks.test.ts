import { existsSync } from 'node:fs';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/telemetry/log.ts';
import { joinNode, startJoinableHarness } from '../calls/stream/support/second-node.ts';
import { contradictions, walletByBooks } from '../support/books.ts';
import { newSigner, openBrowser } from '../support/browser.ts';
import { type Harness, send } from '../support/harness.ts';
import { isLong } from '../support/long.ts';
import { at, type NodeCluster, startCluster } from '../support/node-cluster.ts';
import { startTestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../support/treasury.ts';
import { payV2, type TokenHost } from '../support/x402-payer.ts';

/** Two processes of a node, one ten minutes ahead of the database and one ten minutes behind it. */
const OFF_MS = 600_000;
const offBy = (ms: number): Clock => ({ now: () => new Date(systemClock.now().getTime() + ms) });

type Host = Pick<Harness, 'request' | 'newAccount' | 'newWallet'> & TokenHost;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const aheadOf = async ({ baseUrl }: Pick<Harness, 'baseUrl'>) =>
  (await send(baseUrl, 'GET', '/readyz')).body.clock.aheadOfDatabaseS;

/** Every way of paying through both, with what one process writes and the other judges; `rounds` times. */
async function callThrough(hosts: readonly Host[], rounds: number): Promise<void> {
  const [ahead, behind] = hosts as [Host, Host];
  const agent = await startTestAgent(ahead, { perRequest: '0.05' });
  ends.push(() => agent.die());
  const client = await newClient(behind, '20.00');
  const invoke = `/invoke/${agent.id}`;
  const post = (host: Host, path: string, headers: Record<string, string> = {}, key = client.key) =>
    host.request('POST', path, { key, body: { task: 'work' }, headers });
  let spent = 0;
  for (let round = 0; round < rounds; round++)
    for (const [one, other] of [
      [ahead, behind],
      [behind, ahead],
    ] as const) {
      // The deadline that one writes is judged by jobs of the other: the call stays alive, and ends as it should.
      const started = await post(one, invoke);
      expect(started.status, JSON.stringify(started.body)).toBe(200);
      const { requestId } = started.body.data;
      expect((await untilEnded(other, client.key, requestId)).status).toBe('completed');

      const quote = (await post(one, `${invoke}/quote`)).body.data;
      const bought = await post(other, quote.acceptUrl, { 'x-sync': 'true' });
      expect(bought.body.data, JSON.stringify(bought.body)).toMatchObject({ status: 'completed', cost: '0.05' });

      const key = { 'idempotency-key': `key-${round}-${one === ahead}`, 'x-sync': 'true' };
      const first = await post(one, invoke, key);
      const again = await post(other, invoke, key);
      expect(again.body.data.requestId).toBe(first.body.data.requestId);

      // Valid for 30 s before and after now: ten minutes more or less would refuse it.
      const nowS = BigInt(Math.floor(Date.now() / 1000));
      const wallet = await one.newWallet();
      const { key: payer } = await one.newAccount();
      const offered = await post(one, invoke, {}, payer);
      const payment = await payV2(one, wallet, offered, { validAfter: nowS - 30n, validBefore: nowS + 60n });
      const paid = await post(one, invoke, { ...payment, 'x-sync': 'true' }, payer);
      expect(paid.body.data, JSON.stringify(paid.body)).toMatchObject({ status: 'completed' });
      const shownAgain = await post(other, invoke, { ...payment, 'x-sync': 'true' }, payer);
      expect(shownAgain.body.data?.requestId, JSON.stringify(shownAgain.body)).toBe(paid.body.data.requestId);
      spent += 15;
    }
  expect(await balanceOf(ahead, client.key)).toEqual({ available: (20 - spent / 100).toFixed(2), held: '0.00' });
  expect(agent.calls.length).toBe(rounds * 2 * 4);
  for (const { headers } of agent.calls)
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
}

it('processes with clocks twenty minutes apart are one node: deadlines, offers, quotes, payments and sessions of one are valid at the other', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } });
  const h = await startJoinableHarness({}, { ownClock: offBy(OFF_MS), log });
  ends.push(() => h.stop());
  const other = await joinNode(h, {}, { ownClock: offBy(-OFF_MS) });
  const behind = { ...h, request: other.request };
  await callThrough([h, behind], 1);

  // A session, and a key for five minutes: made by one, taken by the other, both ways.
  for (const [one, two] of [
    [h, behind],
    [behind, h],
  ] as const) {
    const browser = await openBrowser({ ...one, baseUrl: one === h ? h.baseUrl : other.baseUrl }, newSigner());
    expect((await two.request('GET', '/auth/session', { headers: { cookie: browser.cookie() } })).status).toBe(200);
    const { key } = await h.newAccount();
    const expiresAt = new Date(Date.now() + 300_000).toISOString();
    const body = { name: 'short', scopes: ['invoke'], expiresAt };
    const short = await one.request('POST', '/account/keys', { key, body });
    expect((await two.request('GET', '/account', { key: short.body.data.apiKey })).status).toBe(200);
  }
  const now = h.ctx.clock.now().getTime();
  expect(Math.abs(now - other.ctx.clock.now().getTime())).toBeLessThan(1000);

  // Each says it: in the log, on /readyz and to Prometheus.
  expect(lines.join('')).toMatch(/"offsetS":(600|599\.\d+),.*the clock of this machine is off/);
  expect(await aheadOf(h)).toBeCloseTo(600, 0);
  expect(await aheadOf(other)).toBeCloseTo(-600, 0);
  const { text } = await h.ctx.metrics.exposition('text');
  expect(text).toMatch(/^clock_offset_seconds\{reference="database"\} (600|599\.\d+)$/m);

  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.chain.wallet));
});

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

it.runIf(isLong)('the same of processes of their own, whose system clock libfaketime puts wrong', async ({ skip }) => {
  if (!existsSync(LIBRARY)) skip("needs Debian's package faketime");
  const cluster: NodeCluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const start = (FAKETIME: string) =>
    cluster.startProcess({ LD_PRELOAD: LIBRARY, FAKETIME, FAKETIME_DONT_FAKE_MONOTONIC: '1' });
  const [ahead, behind] = await Promise.all([start('+600s'), start('-600s')]);
  await callThrough([at(cluster, ahead), at(cluster, behind)], 20);
  for (const [{ baseUrl }, offsetS] of [
    [ahead, 600],
    [behind, -600],
  ] as const) {
    expect(await aheadOf({ baseUrl })).toBeCloseTo(offsetS, 0);
  }
  expect(await contradictions(cluster.databaseUrl)).toEqual([]);
  expect(await walletByBooks(cluster.databaseUrl)).toBe(await cluster.usdcOf(cluster.walletAddress));
});
