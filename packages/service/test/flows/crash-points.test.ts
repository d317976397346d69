import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ArmedFailpoint, type Failpoint, failpoints, parseFailpoint } from '../../src/lib/process/failpoint.ts';
import { resetAgents, type ScenarioName, scenarios } from '../chaos/torture/crash-scenarios.ts';
import { type CrashSite, startCrashSite } from '../chaos/torture/crash-site.ts';
import { day, ofTheDay } from '../support/daily.ts';
import { isLong } from '../support/long.ts';

/** Days in which `npm test` comes by every state. */
const DAYS = 5;

/** Each is a node, and costs processor time while it waits, too. */
const SITES = 2;
vi.setConfig({ maxConcurrency: SITES });

/** `name`, or `name:n` for the n-th time; with ` then `, where the process that comes after it dies in turn. */
type Deaths = string;

const around = (...steps: string[]): Deaths[] => steps.flatMap((step) => [`before-${step}`, `after-${step}`]);

/** Where the process dies in the course of what; each is a test of the long run. */
const tried: Record<ScenarioName, readonly Deaths[]> = {
  'an x402 call': [
    ...around('handle', 'simulate', 'open-payer', 'accept-commit', 'write-ahead-commit', 'send', 'read-mined'),
    ...around('record-commit', 'agent-call', 'finish-commit'),
    'after-send then before-reconcile-commit',
    'after-send then after-reconcile-commit',
    'after-accept-commit then before-reconcile-commit then after-agent-call',
  ],
  'an x402 call of a quote': [
    // Its acceptance uses the quote, so its payment is claimed first, and written ahead after that.
    ...around('accept-commit', 'write-ahead-commit'),
    'after-accept-commit then after-write-ahead-commit then before-reconcile-commit then after-agent-call',
  ],
  'an x402 call of version 1': ['after-send'],
  'an x402 call under an Idempotency-Key': ['after-take-key', ...around('keep-answer')],
  'a failed x402 call and its refund': [
    ...around('finish-commit', 'pay-owed', 'sign-payout-commit', 'record-commit'),
    'after-write-ahead-commit',
    'after-send',
  ],
  'a cancelled x402 call and its refund': [...around('finish-commit'), 'after-send'],
  'a treasury call under an Idempotency-Key': [
    // Its key is taken with the acceptance, and its answer kept with the end.
    ...around('accept-commit', 'finish-commit'),
    'after-agent-call',
  ],
  // Between the agent's answer and the capture of what it used.
  'a call paid by usage': ['after-agent-call', ...around('finish-commit')],
  'a call whose result has a file': [
    ...around('file-begin-commit', 'file-piece', 'finish-commit'),
    'after-file-piece:2',
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
    ...around('channel-deposit-commit', 'channel-read-commit', 'channel-read'),
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
  'a call paid by a voucher whose payer withdraws': around('channel-claim-commit', 'channel-book-commit'),
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
  'test money under an Idempotency-Key': [...around('test-grant-commit', 'claim-deposit-commit'), 'after-send'],
  'a withdrawal under an Idempotency-Key': [
    ...around('withdrawal-hold-commit', 'withdrawal-commit'),
    'after-write-ahead-commit',
    'after-send',
    'before-record-commit',
  ],
  'collected earnings under an Idempotency-Key': around('collect-commit'),
  'a call of an agent that bills directly': [
    ...around('sign-bill-commit'),
    'after-agent-call',
    'after-agent-call:2',
    'before-finish-commit',
    'after-sign-bill-commit then after-agent-call',
  ],
  'a failed call of an agent that does not collect': around('end-bill-commit'),
  'a call of an agent that asks back': [
    ...around('ask-commit', 'answer-commit'),
    'after-agent-call:2',
    'after-ask-commit then before-answer-commit then after-answer-commit',
  ],
  'a call of an A2A agent that asks back': [
    ...around('ask-commit', 'answer-commit'),
    ...['before-agent-call:2', 'after-agent-call:2'],
    'before-ask-commit then after-answer-commit then after-agent-call',
  ],
  'a call of an OpenAI endpoint': around('agent-call'),
  'a plain transfer and the claim of its wallet': around('read-transfers', 'credit-commit', 'claim-wallet-commit'),
  'an authorization that nobody shows': around('credit-unshown-commit'),
};

const all = Object.entries(tried).flatMap(([scenario, each]) =>
  each.map((deaths) => ({ scenario: scenario as ScenarioName, deaths })),
);

/**
 * Places with nothing lasting between them: no commit, nothing sent to the chain or to an agent. The next process, which knows what lasts and
 * no more, finds the same whichever of them the one before died at, so `npm test` tries the first of each line,
 * a part of them a day, and `npm run test:long` all.
 */
const alike: readonly (readonly Deaths[])[] = [
  ['before-handle', 'before-take-key', 'before-simulate', 'after-simulate', 'before-open-payer'],
  ['before-handle', 'before-claim-deposit-commit', 'before-test-grant-commit'],
  ['after-take-key', 'before-bulk-commit', 'before-withdrawal-hold-commit'],
  ['before-accept-commit', 'after-open-payer', 'before-write-ahead-commit'],
  ['after-write-ahead-commit', 'after-accept-commit', 'before-send'],
  ['after-send', 'before-read-mined'],
  ['before-record-commit', 'after-read-mined'],
  ['after-record-commit', 'before-agent-call'],
  ['before-finish-commit', 'after-agent-call'],
  ['after-finish-commit', 'after-handle'],
  ['before-bulk-finish-commit:2', 'after-bulk-finish-commit'],
  ['after-withdrawal-hold-commit', 'before-withdrawal-commit'],
  ['before-credit-commit', 'before-read-transfers', 'after-read-transfers'],
  ['after-channel-read', 'before-channel-read'],
];
const firstAlike = new Map(alike.flatMap(([first = '', ...others]) => others.map((other) => [other, first])));
const stateAt = (place: Deaths): Deaths => firstAlike.get(place) ?? place;

/** What they commit at a place is another thing than in the scenarios before them: they are tried there too. */
const apart: ReadonlySet<string> = new Set<ScenarioName>([
  'a call paid by usage',
  'a call whose result has a file',
  'a call paid by a voucher',
  'a failed call paid by a voucher',
  'an x402 call of a quote',
  'a call of an A2A agent that asks back',
]);

const placesOf = (deaths: Deaths): Deaths[] => deaths.split(' then ');

/**
 * What `npm test` tries in five days: every state that a death leaves, in the first scenario that comes by it, and every chain of deaths. A chain is more than
 * its places one by one: after each of its deaths, the next process goes on from there.
 */
function onceEach(): typeof all {
  const seen = new Set<string>();
  const isNew = (name: string) => !seen.has(name) && seen.add(name);
  return all.filter(({ scenario, deaths }) => {
    const where = apart.has(scenario) ? `${scenario}: ` : '';
    if (placesOf(deaths).length > 1) return isNew(where + deaths);
    const chains = all.filter((each) => each.scenario === scenario && placesOf(each.deaths).length > 1);
    const isInChain = chains.flatMap((chain) => placesOf(chain.deaths).map(stateAt)).includes(stateAt(deaths));
    return !firstAlike.has(deaths) && !isInChain && isNew(where + deaths);
  });
}
const states = onceEach();
/** Of every scenario some states each day. */
const cases = isLong ? all : ofTheDay(states, ({ scenario }) => scenario, DAYS);

function parse(deaths: Deaths): [ArmedFailpoint, ...ArmedFailpoint[]] {
  const parsed = placesOf(deaths).map((text) => {
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

describe.concurrent(`a process that dies, and is started again (DAY=${day})`, () => {
  it.for(cases)(
    '$scenario, dying $deaths: one run, one payment, one result or the money back',
    async (given, { expect }) => {
      const [here, ...afterwards] = parse(given.deaths);
      const site = free.pop() ?? (await startCrashSite(chain));
      let isSound = false;
      try {
        resetAgents(site);
        const before = site.node.deaths();
        await scenarios[given.scenario](site, () => site.node.arm(here, afterwards));
        // A process that dies after a commit may be seen to have committed before it is seen to have died.
        await expect.poll(() => site.node.deaths() - before, { message: 'deaths' }).toBe(1 + afterwards.length);
        isSound = true;
      } finally {
        if (isSound) free.push(site);
        else await site.stop();
      }
    },
  );
});

it('dies at every failpoint of money there is, or at one that leaves the same state', () => {
  const namesOf = (states: readonly Deaths[]) => new Set(states.map((state) => parse(state)[0].name));
  const placesOfAll = all.flatMap(({ deaths }) => placesOf(deaths));
  const names = namesOf(placesOfAll);
  // Secrets that are shown once move no money: killed-before-answer.test.ts has them.
  // Claims and refunds of channels: payments/schemes/batch-settlement/crash.test.ts has them.
  const ofMoney = failpoints.filter(
    (name) => !/registry|^(before|after)-file-|channel-(claim|record|book|refund)-|take-secret$/.test(name),
  );
  const missing: Failpoint[] = ofMoney.filter((name) => !names.has(name));
  expect(missing).toEqual([]);
  const tried = new Set(states.flatMap(({ deaths }) => placesOf(deaths).map(stateAt)));
  expect(placesOfAll.map(stateAt).filter((state) => !tried.has(state))).toEqual([]);
});
