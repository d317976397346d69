import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { endHolds } from '../../payments/ledger/hold-money.ts';
import { LEDGER_LOCK_TIMEOUT_MS } from '../../payments/ledger/ledger-batcher.ts';
import { feeOf } from '../../payments/ledger/take-fees.ts';
import { earningAccountOf } from '../../payments/ledger/treasury.ts';
import type { Store } from '../../store/database.ts';
import { findInvocation } from '../invocation-store.ts';
import {
  dropAudited,
  listStaleHolds,
  listUnaudited,
  readAuditPlace,
  type StaleHold,
  writeAuditPlace,
} from './audit-store.ts';
import { type EndContext, oweBack } from './end-invocations.ts';
import {
  type Contradiction,
  findAccountContradictions,
  findChannelContradictions,
  findHoldContradictions,
  findLastAccount,
  findLedgerContradictions,
  findRequestContradictions,
  findTotalContradictions,
} from './money-audit-store.ts';

const ALL = { after: '', before: null, limit: 1_000_000_000 };

/**
 * All contradictions between the records of requests and of money, of any age. None, unless the node is at fault. Reads all rows. Open
 * requests never contradict; a payment of a cancelled request may be in the process of being refunded.
 */
export async function findMoneyContradictions(ctx: Pick<Store, 'db'>): Promise<Contradiction[]> {
  const { db } = ctx;
  const found = await Promise.all([
    findRequestContradictions(db, null),
    findAccountContradictions(db, ALL),
    findLedgerContradictions(db),
    findHoldContradictions(db),
    findChannelContradictions(db),
  ]);
  return found.flat();
}

type AuditContext = Store & Telemetry;

/** Everything that follows from the end of a request has happened within this time. */
const AT_REST_MS = 3_600_000;
const REQUESTS = 2000;
const ACCOUNTS = 2000;
const MAX_ROUNDS = 20;

/**
 * The incremental audit: each request once its money has not changed for an hour, independently of others, and the ledger accounts in turn.
 * Contradictions are logged as errors and counted; nothing is changed. If the process dies before requests leave the queue, they are
 * audited again.
 */
export async function auditMoney(ctx: AuditContext): Promise<void> {
  await auditRequests(ctx);
  await writeAuditPlace(ctx.db, await auditAccounts(ctx, await readAuditPlace(ctx.db)));
}

async function auditRequests(ctx: AuditContext): Promise<void> {
  const atRest = new Date(ctx.clock.now().getTime() - AT_REST_MS);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const ids = await listUnaudited(ctx.db, atRest, REQUESTS);
    if (ids.length === 0) return;
    report(ctx, await findRequestContradictions(ctx.db, ids));
    await dropAudited(ctx.db, ids, atRest);
  }
}

async function auditAccounts(ctx: AuditContext, after: string): Promise<string> {
  const range = { after, before: null, limit: ACCOUNTS };
  report(ctx, await findAccountContradictions(ctx.db, range));
  const last = await findLastAccount(ctx.db, range);
  if (last !== null) return last;
  report(ctx, await findTotalContradictions(ctx.db));
  report(ctx, await findChannelContradictions(ctx.db));
  return '';
}

function report(ctx: AuditContext, found: readonly Contradiction[]): void {
  for (const { kind, subject, detail } of found) {
    ctx.metrics.moneyContradictions.inc({ kind });
    ctx.log.error({ stream: 'security', contradiction: kind, subject, detail }, 'money records contradict each other');
  }
}

type ReleaseContext = EndContext & Telemetry;

const BATCH = 100;
const limits = { lockTimeoutMs: LEDGER_LOCK_TIMEOUT_MS };

/**
 * Ends expired holds of requests that have ended or do not exist: by the request's status, else in favour of the payer. A request and its
 * hold end in one transaction, so such holds exist only because of a bug in the node.
 */
export async function releaseStaleHolds(ctx: ReleaseContext): Promise<void> {
  for (const hold of await listStaleHolds(ctx.db, ctx.clock.now(), BATCH)) {
    ctx.log.error(
      { stream: 'security', requestId: hold.id, status: hold.status },
      'hold outlived its request; ending it',
    );
    ctx.metrics.moneyContradictions.inc({ kind: 'stale_hold' });
    await release(ctx, hold).catch((err) =>
      ctx.log.warn({ err, requestId: hold.id }, 'stale hold could not be ended; retrying'),
    );
  }
}

async function release(ctx: ReleaseContext, { id, ledgerAccountId }: StaleHold): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const invocation = await findInvocation(tx, id);
    const captureMicro = invocation?.costMicro ?? 0n;
    const creditId = invocation ? earningAccountOf(invocation.agentId, ledgerAccountId) : ledgerAccountId;
    await endHolds(tx, [{ id, captureMicro, creditId, feeMicro: feeOf(captureMicro, ctx.platformFeeBps) }], now);
    if (invocation) await oweBack(ctx, tx, [invocation]);
  }, limits);
}
