import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import type { SigningKeys } from '../chain/gas-watch.ts';
import type { HasSettlementHalt } from '../payments/chain-outbox/settlement-halt.ts';
import { SETTLED_BY_NOW_MS } from '../payments/reconcile/reconcile.ts';
import type { ReservesReader } from '../payments/statements/read-reserves.ts';
import { readChainIndex } from '../registry/read/read-chain-index.ts';
import type { HasRegistry } from '../registry/read/registry-info.ts';
import type { Records } from '../store/database.ts';
import type { HasProcessId } from '../store/queue/heartbeat.ts';
import {
  countOpenTransactions,
  listProcesses,
  type ProcessRow,
  readDatabase,
  readQueues,
  readSettlements,
} from './operator-store.ts';
import type { TotalsReader } from './read-totals.ts';

export interface StatusContext extends Records, SigningKeys, HasRegistry, HasProcessId, HasSettlementHalt {
  readonly totals: TotalsReader;
  readonly reserves: ReservesReader;
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

async function readSigners(ctx: StatusContext): Promise<OperatorStatus['signers']> {
  const [open, sending, registering] = await Promise.all([
    countOpenTransactions(ctx.db, ctx.registry.chainId),
    ctx.gas.levels(),
    ctx.registrarGas.levels(),
  ]);
  const roleOf = (address: string) => (address === ctx.wallet.address ? ('wallet' as const) : ('sender' as const));
  return [
    ...sending.map((level) => ({ ...level, role: roleOf(level.address) })),
    ...registering.map((level) => ({ ...level, role: 'registrar' as const })),
  ].map(({ address, role, balanceWei, isLow }) => ({
    address,
    role,
    gasWei: balanceWei === null ? null : String(balanceWei),
    isLow,
    openTransactions: open.get(address) ?? 0,
  }));
}
