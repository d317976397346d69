import { describe, expect, it } from 'vitest';
import { type Agent, changesFile } from '../agent.ts';
import { toRegistrationFile } from './registration-file.ts';

const at = (s: number) => new Date(s * 1000);
const place = {
  baseUrl: 'https://node.example',
  registry: { chainId: 84532, address: `0x${'8'.repeat(40)}` },
  gateways: [],
};

/** Each field of an agent, before and after a change. */
const changes: { readonly [F in keyof Agent]: readonly [before: Agent[F], after: Agent[F]] } = {
  id: ['agt_a', 'agt_a'],
  accountId: ['acc_a', 'acc_b'],
  owner: ['0xa', '0xb'],
  name: ['A', 'B'],
  description: ['a', 'b'],
  capabilities: [['a'], ['b']],
  perRequestMicro: [1n, 2n],
  perHourMicro: [1n, 2n],
  tiers: [{}, { basic: '0.01' }],
  endpoint: ['https://a.example', 'https://b.example'],
  protocol: ['http', 'a2a'],
  upstream: [{}, { tool: 'a' }] as never,
  upstreamHeadersSealed: [null, Buffer.from('a')],
  upstreamDigest: [null, 'a'],
  fault: [null, 'a'],
  faultDetail: [null, {}] as never,
  metadata: [{}, { website: 'https://a.example' }],
  exampleQuestions: [[], ['a', 'b']],
  typesId: [null, 'typ_a'],
  status: ['online', 'offline'],
  reputation: [1, 2],
  isNew: [true, false],
  tokenSealed: [null, Buffer.from('a')],
  endpointProvenAt: [at(1), null],
  walletProvenAt: [at(1), null],
  isWalletProven: [true, false],
  accountAddress: ['0xa', '0xb'],
  ownedSince: [null, at(1)],
  frozenAt: [null, at(1)],
  tokenId: ['1', null],
  idSalt: [null, null],
  tokenClaimedAt: [null, at(1)],
  checksDone: [0, 1],
  failedInARow: [0, 1],
  passedInARow: [0, 1],
  lastPingAt: [null, at(1)],
  nextCheckAt: [null, at(1)],
  lastSeenAt: [at(1), at(2)],
  responseMs: [null, null],
  reportedLoad: [null, 0.5],
  reportedAt: [null, at(1)],
  isAccepting: [true, false],
  createdAt: [at(1), at(1)],
  updatedAt: [at(1), at(1)],
  completed: [0n, 1n],
  failed: [0n, 1n],
  durationMs: [0n, 1n],
  probesPassed: [0n, 1n],
  probes: [0n, 1n],
  homeNode: [null, null],
  homeLabel: [null, null],
  homeUrl: [null, null],
};
const before = Object.fromEntries(Object.entries(changes).map(([field, [value]]) => [field, value])) as never as Agent;
const fileOf = (agent: Agent) => JSON.stringify(toRegistrationFile(agent, place as never));

describe('the feed tells other nodes of a change', () => {
  it.each(Object.entries(changes))(
    'of %s when the registration file shows it, and of nothing else',
    (field, [, value]) => {
      const after = { ...before, [field]: value };
      expect(changesFile(before, after)).toBe(fileOf(before) !== fileOf(after));
    },
  );

  it('also of types, as the file contains their version', () => {
    expect(changesFile(before, { ...before, typesId: 'typ_a' })).toBe(true);
  });
});
