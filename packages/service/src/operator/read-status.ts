import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import type { PaymentNetwork } from '@agent-network/contracts/payments/networks';
import type { AssetReserves, Reserves } from '@agent-network/contracts/payments/reserves';
import { readGates } from '../chain/blocks/gates.ts';
import { assetIdOf, nameAsset } from '../chain/chain-info.ts';
import type { GasLevel, SigningKeys } from '../chain/gas-watch.ts';
import { onEach } from '../chain/networks.ts';
import { within } from '../lib/concurrency/within.ts';
import { SETTLED_BY_NOW_MS } from '../payments/reconcile/reconcile.ts';
import { ASKED_FOR_MS, type NetworksContext, readAssetReserves } from '../payments/statements/read-networks.ts';
import type { ReservesReader } from '../payments/statements/read-reserves.ts';
import { readChainIndex } from '../registry/read/read-chain-index.ts';
import type { RegistryIndex } from '../registry/read/registry-tokens.ts';
import type { Store } from '../store/database.ts';
import type { NodeProcess } from '../store/queue/heartbeat.ts';
import {
  countOpenTransactions,
  listProcesses,
  type ProcessRow,
  readDatabase,
  readQueues,
  readSettlements,
} from './operator-store.ts';
import type { TotalsReader } from './read-totals.ts';

export interface StatusContext extends Store, SigningKeys, RegistryIndex, NodeProcess, NetworksContext {
  readonly totals: TotalsReader;
  readonly reserves: ReservesReader;
  /** The networks that the node is paid on, at most a second old. */
  readonly networksReader: () => Promise<PaymentNetwork[]>;
}

/** Status of the node. Each queue is counted up to 10,000 in an index of its own; reserves and gas are at most a second old. */
export async function readStatus(ctx: StatusContext): Promise<OperatorStatus> {
  const now = ctx.clock.now();
  const ageS = (at: Date | null) => (at === null ? null : Math.max(0, (now.getTime() - at.getTime()) / 1000));
  const [processes, queues, settlements, reserves, signers, index, database] = await Promise.all([
    listProcesses(ctx.db),
    readQueues(ctx.db, now),
    readSettlements(ctx.db, new Date(now.getTime() - SETTLED_BY_NOW_MS)),
    ctx.reserves.read().catch(() => null),
    readSigners(ctx),
    readChainIndex(ctx),
    readDatabase(ctx.db),
  ]);
  const { oldestAt, ...counts } = settlements;
  return {
    asOf: now.toISOString(),
    processes: processes.map((row) => processOf(row, ctx.processId())),
    queues: queues.map((queue) => ({ kind: queue.kind, depth: queue.depth, oldestS: ageS(queue.oldestAt) })),
    settlements: { ...counts, halted: ctx.settlementHalt.reason(), oldestS: ageS(oldestAt) },
    reserves,
    signers,
    byAsset: await readByAsset(ctx, reserves),
    index,
    database,
  };
}

function processOf(row: ProcessRow, thisId: string): OperatorStatus['processes'][number] {
  const { processId, label, startedAt, seenAt, delayMs, version, drainingSince } = row;
  return {
    processId,
    label,
    startedAt: startedAt.toISOString(),
    seenAt: seenAt.toISOString(),
    isThis: processId === thisId,
    version,
    drainingSince: drainingSince?.toISOString() ?? null,
    eventLoopDelayMs: delayMs && { p50: delayMs[0], p99: delayMs[1], max: delayMs[2] },
  };
}

type AssetStatus = OperatorStatus['byAsset'][number];

/** The status of each asset, the default one first. */
async function readByAsset(ctx: StatusContext, own: Reserves | null): Promise<AssetStatus[]> {
  const [reserves, networks] = await Promise.all([readAssetReserves(ctx, own), ctx.networksReader()]);
  return Promise.all(reserves.map((each) => readAsset(ctx, each, networks)));
}

/** Status of one asset. A network that opens or closes meanwhile is shown as it was. */
async function readAsset(
  ctx: StatusContext,
  reserves: AssetReserves,
  networks: readonly PaymentNetwork[],
): Promise<AssetStatus> {
  const { asset } = reserves;
  const name = nameAsset(asset);
  const state = networks.flatMap(({ tokens }) => tokens).find((token) => token.asset === asset)?.state ?? 'away';
  const on = onEach(ctx).find(({ chain }) => assetIdOf(chain) === asset);
  if (!on) return { ...name, state, halted: null, reserves, signers: [], gates: [] };
  const [signers, gates] = await Promise.all([readSenders(on, ASKED_FOR_MS), readGates(on, on.chain)]);
  return { ...name, state, halted: on.settlementHalt.reason(), reserves, signers, gates };
}

type Signer = OperatorStatus['signers'][number];

/** The sending keys with their gas on the network of the context; without it, if it is not read within `timeoutMs`. */
async function readSenders(ctx: StatusContext, timeoutMs: number | null = null): Promise<Signer[]> {
  const unread = ctx.senders.map(({ address }) => ({ address, balanceWei: null, isLow: false }));
  const reading = ctx.gas.levels();
  const [open, levels] = await Promise.all([
    countOpenTransactions(ctx.db, ctx.chain.chainId),
    timeoutMs === null ? reading : within(reading, timeoutMs, unread),
  ]);
  const roleOf = (address: string) => (address === ctx.wallet.address ? 'wallet' : 'sender');
  return levels.map((level) => signerOf(level, roleOf(level.address), open));
}

/** The keys of the default network, with the one that writes to the registry. */
async function readSigners(ctx: StatusContext): Promise<Signer[]> {
  const [open, sending, registering] = await Promise.all([
    countOpenTransactions(ctx.db, ctx.registry.chainId),
    readSenders(ctx),
    ctx.registrarGas.levels(),
  ]);
  return [...sending, ...registering.map((level) => signerOf(level, 'registrar', open))];
}

const signerOf = (
  { address, balanceWei, isLow }: GasLevel,
  role: Signer['role'],
  open: ReadonlyMap<string, number>,
): Signer => ({
  ...{ address, role, isLow },
  gasWei: balanceWei === null ? null : String(balanceWei),
  openTransactions: open.get(address) ?? 0,
});
