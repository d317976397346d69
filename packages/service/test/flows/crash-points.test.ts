import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ArmedFailpoint, type Failpoint, failpoints, parseFailpoint } from '../../src/lib/process/failpoint.ts';
import { resetAgents, type ScenarioName, scenarios } from '../chaos/torture/crash-scenarios.ts';
import { type CrashSite, startCrashSite } from '../chaos/torture/crash-site.ts';
import { isLong } from '../support/long.ts';

const SITES = 5;
vi.setConfig({ maxConcurrency: SITES });

/** `name`, or `name:n` for the n-th time; with ` then `, where the process that comes after it dies in turn. */
type Deaths = string;

const around = (...steps: string[]): Deaths[] => steps.flatMap((step) => [`before-${step}`, `after-${step}`]);

/** Where the process dies in the course of what; each is a test. Places with nothing lasting between them are tried once. */
const tried: Record<ScenarioName, readonly Deaths[]> = {
  'an x402 call': [
    ...around('handle', 'simulate', 'open-payer', 'accept-commit', 'write-ahead-commit', 'send', 'read-mined'),
    ...around('record-commit', 'begin-commit', 'agent-call', 'finish-commit'),
    'after-send then before-reconcile-commit',
    'after-send then after-reconcile-commit',
    'after-accept-commit then after-write-ahead-commit then before-begin-commit then after-agent-call',
  ],
  'an x402 call of version 1': ['after-send'],
  'an x402 call under an Idempotency-Key': ['after-take-key', ...around('keep-answer')],
  'a failed x402 call and its refund': [
    ...around('finish-commit', 'pay-owed', 'record-commit'),
    'after-write-ahead-commit',
    'after-send',
  ],
  'a cancelled x402 call and its refund': [...around('finish-commit'), 'after-send'],
  'a treasury call under an Idempotency-Key': [
    ...around('take-key', 'accept-commit', 'finish-commit', 'keep-answer'),
    'after-agent-call',
  ],
  'an x402 call of the agent that the node chose': [
    ...around('accept-commit', 'agent-call', 'finish-commit'),
    'after-send',
    'before-accept-commit then after-send',
    'after-accept-commit then before-finish-commit',
  ],
  'a treasury call of the agent that the node chose, under an Idempotency-Key': [
    ...around('take-key', 'accept-commit', 'agent-call', 'keep-answer'),
    'before-accept-commit then after-accept-commit',
    'after-agent-call then before-keep-answer',
  ],
  'calls of a payment channel, and its deposit': [
    ...around('admit-voucher', 'channel-deposit-commit', 'channel-read-commit', 'channel-read'),
    'after-write-ahead-commit',
    'after-record-commit',
    'before-finish-commit',
    'after-write-ahead-commit',
  ],
  'a call paid by a voucher': [
    ...around('accept-commit', 'finish-commit'),
    'after-accept-commit then after-agent-call then after-finish-commit',
  ],
  'a failed call paid by a voucher': around('finish-commit'),
  'a bulk request under an Idempotency-Key': [
    ...around('bulk-commit', 'bulk-finish-commit'),
    'before-bulk-finish-commit:2',
    'after-bulk-finish-commit:2',
    'before-keep-answer',
  ],
  'a deposit': [
    ...around('claim-deposit-commit', 'record-commit'),
    'after-write-ahead-commit',
    'after-send',
    'after-send then before-reconcile-commit',
  ],
  'a withdrawal under an Idempotency-Key': [
    ...around('withdrawal-hold-commit', 'withdrawal-commit'),
    'after-write-ahead-commit',
    'after-send',
    'before-record-commit',
  ],
  'a call of an agent that bills directly': [
    ...around('sign-bill-commit'),
    'after-agent-call',
    'after-agent-call:2',
    'before-finish-commit',
    'after-sign-bill-commit then after-agent-call',
  ],
  'a failed call of an agent that does not collect': around('end-bill-commit'),
  'a call of an OpenAI endpoint': around('agent-call'),
  'a plain transfer and the claim of its wallet': around('read-transfers', 'credit-commit', 'claim-wallet-commit'),
  'an authorization that nobody shows': around('credit-unshown-commit'),
};

const all = Object.entries(tried).flatMap(([scenario, each]) =>
  each.map((deaths) => ({ scenario: scenario as ScenarioName, deaths })),
);

/** What they commit at a place is another thing than in the scenarios before them: they are tried there too. */
const apart: ReadonlySet<string> = new Set<ScenarioName>([
  'a call paid by a voucher',
  'a failed call paid by a voucher',
]);
/** Every place, in the first scenario that comes by it, and every chain of deaths; in the long run, every scenario. */
const seen = new Set<string>();
const cases = all.filter(({ scenario, deaths }) => {
  const place = apart.has(scenario) ? `${scenario}: ${deaths}` : deaths;
  return isLong || (!seen.has(place) && seen.add(place));
});

function parse(deaths: Deaths): [ArmedFailpoint, ...ArmedFailpoint[]] {
  const parsed = deaths.split(' then ').map((text) => {
    const failpoint = parseFailpoint(text);
    if (!failpoint) throw new Error(`there is no failpoint ${text}`);
    return failpoint;
  });
  return parsed as [ArmedFailpoint, ...ArmedFailpoint[]];
}

let chain: LocalChain;
const free: CrashSite[] = [];

beforeAll(async () => {
  chain = await startLocalChain();
});
afterAll(async () => {
  await Promise.all(free.map((site) => site.stop()));
  await chain?.stop();
});

describe.concurrent('a process that dies, and is started again', { timeout: 60_000 }, () => {
  it.for(cases)('$scenario, dying $deaths: one run, one payment, one result or the money back', async (given) => {
    const [here, ...afterwards] = parse(given.deaths);
    const site = free.pop() ?? (await startCrashSite(chain));
    let isSound = false;
    try {
      resetAgents(site);
      const before = site.node.deaths();
      await scenarios[given.scenario](site, () => site.node.arm(here, afterwards));
      expect(site.node.deaths() - before, 'deaths').toBe(1 + afterwards.length);
      isSound = true;
    } finally {
      if (isSound) free.push(site);
      else await site.stop();
    }
  });
});

it('dies at every failpoint of money there is', () => {
  const names = cases.flatMap(({ deaths }) => parse(deaths).map(({ name }) => name));
  // Secrets that are shown once move no money: killed-before-answer.test.ts has them.
  // Claims and refunds of channels: payments/channels/crash.test.ts has them.
  const ofMoney = failpoints.filter((name) => !/registry|channel-(claim|record|book|refund)-|take-secret$/.test(name));
  const missing: Failpoint[] = ofMoney.filter((name) => !names.includes(name));
  expect(missing).toEqual([]);
});
