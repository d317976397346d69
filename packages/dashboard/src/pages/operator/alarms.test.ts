import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { expect, it } from 'vitest';
import { nameOfNetwork } from '../../app/network-name.ts';
import { alarmsOf } from './alarms.ts';

const well: OperatorStatus = {
  asOf: '2026-11-21T10:00:00.000Z',
  processes: [
    {
      processId: 'p1',
      label: 'main',
      startedAt: '2026-11-21T09:00:00.000Z',
      seenAt: '2026-11-21T09:59:58.000Z',
      isThis: true,
      version: '0.1.0',
      drainingSince: null,
      eventLoopDelayMs: { p50: 1, p99: 12, max: 40 },
    },
  ],
  queues: [
    { kind: 'registry_writes', depth: 2, oldestS: 3 },
    { kind: 'deliveries_retrying', depth: 7, oldestS: 80_000 },
  ],
  settlements: { inFlight: 3, unknown: 0, lost: 0, held: 0, halted: null, oldestS: 2 },
  reserves: {
    asOf: '2026-11-21T10:00:00.000Z',
    network: 'base',
    currency: 'USDC',
    wallet: '0x1',
    block: { number: 1, hash: '0x1' },
    onChain: '1',
    channels: { vouchers: '0', claimed: '0' },
    liabilities: {
      treasuries: '1',
      agents: '0',
      payers: '0',
      channels: '0',
      outgoing: '0',
      suspense: '0',
      fees: '0',
      total: '1',
    },
    inFlight: { incoming: '0', outgoing: '0' },
    bookedAfterBlock: '0',
    difference: '0',
    loss: '0',
    status: 'balanced',
    platformFeeBps: 0,
  },
  signers: [{ address: '0x2', role: 'sender', gasWei: '1', isLow: false, openTransactions: 0 }],
  byAsset: ['eip155:8453', 'eip155:42161'].map((network) => ({
    ...{ asset: `${network}/erc20:0x4`, network, symbol: 'USDC', state: 'open', halted: null, signers: [], gates: [] },
    reserves: {
      ...{ asset: `${network}/erc20:0x4`, network, wallet: '0x1', onChain: '1', owed: '1', outgoing: '0', escrow: '0' },
      ...{ difference: '0', status: 'balanced' },
    },
  })),
  index: {
    chainId: 8453,
    registry: '0x3',
    state: 'live',
    block: 9,
    headBlock: 9,
    lagBlocks: 0,
    safeBlock: 9,
    gates: [],
  },
  database: { sizeBytes: 1, connections: 5, maxConnections: 100 },
};

const [base, arbitrum] = well.byAsset as [OperatorStatus['byAsset'][number], OperatorStatus['byAsset'][number]];
const other = (change: Partial<typeof arbitrum>) => ({ byAsset: [base, { ...arbitrum, ...change }] });
const nameOf = ({ network }: { network: string }) => nameOfNetwork(network, { chainId: 8453, isLocalChain: false });
const [process] = well.processes as [OperatorStatus['processes'][number]];
const texts = (change: Partial<OperatorStatus>) => alarmsOf({ ...well, ...change }, nameOf).map(({ text }) => text);

it('a node that is well has no alarm, however long retries wait', () => expect(alarmsOf(well, nameOf)).toEqual([]));

it.each<[string, Partial<OperatorStatus>]>([
  ['sends no heartbeat', { processes: [{ ...process, seenAt: '2026-11-21T09:59:40.000Z' }] }],
  ['event loop is delayed', { processes: [{ ...process, eventLoopDelayMs: { p50: 1, p99: 900, max: 1200 } }] }],
  [
    'is waiting too long: Entries to write to the shared registry (2)',
    { queues: [{ kind: 'registry_writes', depth: 2, oldestS: 901 }] },
  ],
  ['1 settlements have an unknown outcome', { settlements: { ...well.settlements, unknown: 1 } }],
  ['reorganisation removed 2', { settlements: { ...well.settlements, lost: 2 } }],
  ['reserves are unknown', { reserves: null }],
  [
    'contradict the books by -0.5',
    { reserves: well.reserves && { ...well.reserves, status: 'drift', difference: '-0.5' } },
  ],
  ['is running low on gas', { signers: well.signers.map((signer) => ({ ...signer, isLow: true })) }],
  ['is stalled', { index: { ...well.index, state: 'stalled' } }],
  ['101 blocks behind', { index: { ...well.index, lagBlocks: 101 } }],
  ['The chain of Arbitrum is unreachable', other({ state: 'away' })],
  ['On Arbitrum, the token refuses payments of the node: paused.', other({ halted: 'paused' })],
  ['low on gas on Arbitrum', other({ signers: well.signers.map((signer) => ({ ...signer, isLow: true })) })],
  [
    'The reserves on Arbitrum contradict the books by -0.5',
    other({ reserves: { ...arbitrum.reserves, status: 'drift', difference: '-0.5' } }),
  ],
  ['80 of at most 100', { database: { ...well.database, connections: 80 } }],
])('alarm: %s', (text, change) => expect(texts(change)).toEqual([expect.stringContaining(text)]));

it('the worst stands first', () =>
  expect(
    alarmsOf(
      {
        ...well,
        reserves: null,
        processes: [{ ...process, eventLoopDelayMs: { p50: 1, p99: 900, max: 1200 } }],
      },
      nameOf,
    ),
  ).toMatchObject([{ tone: 'bad' }, { tone: 'warn' }]));
