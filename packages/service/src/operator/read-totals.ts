import { formatUsdc } from '@agent-network/contracts/money';
import type { OperatorTotals } from '@agent-network/contracts/network/operator';
import { nameAsset } from '../chain/chain-info.ts';
import { cachedFlight } from '../lib/concurrency/single-flight.ts';
import { DAY_MS } from '../lib/duration.ts';
import type { Store } from '../store/database.ts';
import { readFees, readNodeTotals } from './totals-store.ts';

const MAX_AGE_MS = 60_000;
const DAYS = 30;

export interface TotalsReader {
  read(): Promise<OperatorTotals>;
}

/** Reads the totals of the node for all callers, at most once a minute in this process. */
export function createTotalsReader(ctx: Store): TotalsReader {
  const nowMs = () => ctx.clock.now().getTime();
  return { read: cachedFlight(MAX_AGE_MS, () => readTotals(ctx), nowMs) };
}

async function readTotals({ db, clock }: Store): Promise<OperatorTotals> {
  const now = clock.now();
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const since = new Date(today - (DAYS - 1) * DAY_MS);
  const [row, fees] = await Promise.all([readNodeTotals(db, since), readFees(db)]);
  return {
    asOf: now.toISOString(),
    accounts: row.accounts,
    agents: { total: row.agents, online: row.online },
    calls: { total: row.calls, days30: row.calls30 },
    volume: { total: formatUsdc(row.spentMicro), days30: formatUsdc(row.spentMicro30) },
    fees: formatUsdc(row.feesMicro),
    feesByAsset: fees.map(({ asset, micro }) => ({ ...nameAsset(asset), fees: formatUsdc(micro) })),
  };
}
