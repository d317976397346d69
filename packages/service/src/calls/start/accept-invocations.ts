import { dropKeys, freeKeysTaken, type KeyToTake, takeFreeKeys } from '../../accounts/idempotency/idempotency.ts';
import { spend, unspend } from '../../accounts/limits/spend.ts';
import { type Budget, budgetName } from '../../accounts/spending-limits.ts';
import type { Semaphore } from '../../lib/concurrency/semaphore.ts';
import { jsonSizeUpTo } from '../../lib/json/json-limits.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { rememberTrace } from '../../lib/telemetry/tracing.ts';
import type { RequestHold } from '../../payments/ledger/hold.ts';
import { lockFree } from '../../payments/ledger/hold-money.ts';
import { createLedgerBatcher, LEDGER_LOCK_TIMEOUT_MS } from '../../payments/ledger/ledger-batcher.ts';
import { busyTreasury } from '../../payments/ledger/treasury.ts';
import type { How, Means, PaidBy, PaymentScheme, Refusals, SchemeRefusal } from '../../payments/schemes/scheme.ts';
import { paidBy, schemeOf, schemes } from '../../payments/schemes/schemes.ts';
import type { Store } from '../../store/database.ts';
import { isDuplicate } from '../../store/database-away.ts';
import type { LockMode } from '../../store/lock-free.ts';
import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import { livingGuards, requireLiving } from '../../store/queue/require-living.ts';
import type { Statement, Tx } from '../../store/sql.ts';
import { GuardError } from '../../store/transaction.ts';
import type { CallServices } from '../call-services.ts';
import { holdsOf, type Invocation } from '../invocation.ts';
import { insertInvocations, openInvocationsInserted, removeRefused } from '../invocation-store.ts';
import { type AgreedTerms, agreedTermsRecorded, recordAgreedTerms } from '../pricing/agreed-terms-store.ts';
import { unuseQuotes, useQuotes } from '../pricing/quote-store.ts';
import type { Backlog } from '../run/run-queued.ts';
import type { StorageLimits } from '../storage.ts';
import { holdUnpaid, noneUnpaid } from '../unpaid-store.ts';
import { findChanged, type Sale, salesGuards } from './choose-agent.ts';

export interface Acceptance {
  readonly invocation: Invocation;
  readonly quoteId: string | null;
  /** Authorized to pay for it; null: it is free. */
  readonly means: Means | null;
  /** The daily budget of the caller's key. */
  readonly budget: Budget | null;
  /** Terms to record as those that its account pays this agent by. */
  readonly agreed: readonly AgreedTerms[];
  /** The Idempotency-Key that is taken with it; null: it has none, or its key is taken. */
  readonly lateKey: KeyToTake | null;
  /** The chosen agent and price. */
  readonly sale: Sale;
  /**
   * The waiting call that this one continues; its caller may have ended it since. A call paid by x402 has the id of the call that waited
   * for it.
   */
  readonly waitingId?: string | undefined;
}

export type AcceptAnswer =
  /** `isCarried`: the transaction of its payment was stored with it. */
  | { readonly kind: 'accepted'; readonly isCarried?: true }
  | SchemeRefusal
  | { readonly kind: 'quote_used' }
  | { readonly kind: 'given_up' }
  /** The payment was made for the terms of another call, which waits for it. */
  | { readonly kind: 'waits' }
  /** The Idempotency-Key is not free; it has to be taken before. */
  | { readonly kind: 'key_first' }
  /** The deadline passed while the call waited for acceptance. */
  | { readonly kind: 'too_late' }
  /** The agent was withdrawn, or costs something else by now. */
  | { readonly kind: 'agent_changed' }
  | { readonly kind: 'over_budget'; readonly remainingMicro: bigint };

/** Accepts invocations: the only way to create a request. */
export interface Acceptor {
  accept(acceptance: Acceptance): Promise<AcceptAnswer>;
  /** Time for which the oldest one has waited for its transaction. */
  waitingMs(): number;
}

/** Decides whether requests are taken, and stores them: storage of the account, slots to run, the queue of this process. */
export interface Intake extends StorageLimits, CallServices, NodeProcess {
  readonly backlog: Backlog;
  readonly acceptor: Acceptor;
}

const MAX_BATCH = 100;
/** Bytes of inputs of a batch: a larger one has a transaction of its own. */
const MAX_BATCH_BYTES = 256 * 1024;

const weightOf = ({ invocation: { input, context } }: Acceptance) =>
  Math.max(Math.floor(MAX_BATCH_BYTES / MAX_BATCH), jsonSizeUpTo(MAX_BATCH_BYTES, [input, context]));

/** Batches acceptances, up to a size: requests that arrive during a transaction share the next one. */
export function createAcceptor(ctx: Store & { readonly ledgerTurns: Semaphore }): Acceptor {
  const run = async (items: readonly Acceptance[], locks: LockMode) =>
    (locks === 'skip' ? await acceptAtOnce(ctx, items) : null) ?? acceptPresent(ctx, items, locks);
  const batcher = createLedgerBatcher<Acceptance, AcceptAnswer>(
    { db: ctx.db, turns: ctx.ledgerTurns },
    { run, maxSize: MAX_BATCH_BYTES, weightOf, namesOf: rowsOf },
  );
  return {
    waitingMs: () => batcher.waitingMs(),
    async accept(acceptance) {
      rememberTrace(acceptance.invocation.id);
      const answer = await batcher.add(acceptance).catch((error) => {
        throw acceptance.means?.scheme === 'batch-settlement' ? error : busyTreasury(error);
      });
      return isBehindLarger(answer, acceptance.invocation.priceMicro)
        ? ((await run([acceptance], 'wait'))[0] as AcceptAnswer)
        : answer;
    },
  };
}

type Answers = Map<string, AcceptAnswer>;

const limits = { lockTimeoutMs: LEDGER_LOCK_TIMEOUT_MS };

/** The rows that an acceptance may wait for, as a HeldUpError names them. */
const rowsOf = ({ invocation: { payerLedgerId, accountId }, budget }: Acceptance): string[] => [
  ...(payerLedgerId === null ? [] : [payerLedgerId]),
  ...(budget === null ? [] : [budgetName(budget.budgetId)]),
  accountId,
];

/** Undoes the transaction of a batch in which some agents have changed. */
class ChangedSalesError extends Error {
  readonly changed: ReadonlySet<Sale>;

  constructor(changed: ReadonlySet<Sale>) {
    super('agents changed while calls of them were accepted');
    this.changed = changed;
  }
}

/** Accepts a batch in one round trip if all of it can be accepted; null: nothing was changed, and it needs a transaction that decides. */
async function acceptAtOnce(ctx: Store, items: readonly Acceptance[]): Promise<AcceptAnswer[] | null> {
  const statements = flushOfAcceptances(ctx, items);
  if (statements === null) return null;
  const isCarried = ({ means }: Acceptance) => means?.carrier !== undefined;
  const carries = items.some(isCarried);
  failpoint('before-accept-commit');
  if (carries) failpoint('before-write-ahead-commit');
  try {
    await ctx.db.flush(statements, limits);
  } catch (error) {
    if (error instanceof GuardError || isDuplicate(error)) return null;
    throw error;
  }
  failpoint('after-accept-commit');
  if (carries) failpoint('after-write-ahead-commit');
  return items.map((item) => ({ kind: 'accepted', ...(isCarried(item) ? { isCarried: true } : {}) }));
}

/**
 * The statements that accept these calls, in the order of `acceptPresent`; null: some need to be looked at, as those with a quote or a budget.
 * Each is guarded: it does the whole of its work, or nothing is committed.
 */
function flushOfAcceptances(ctx: Store, items: readonly Acceptance[]): readonly Statement[] | null {
  const now = ctx.clock.now();
  const requests = items.map(({ invocation }) => invocation);
  const isPlain = items.every(
    (item) => item.quoteId === null && item.budget === null && item.invocation.deadline > now,
  );
  if (items.length === 0 || !isPlain || new Set(requests.map(({ id }) => id)).size < items.length) return null;
  const holds = holdsOf(requests);
  const waiting = [...new Set(items.flatMap(waitingOf))];
  const keys = items.flatMap(({ lateKey }) => lateKey ?? []);
  const claims = schemes.map((scheme) => claimsOf(scheme, paidBy(items.flatMap(paidByOf), scheme), now));
  const held = schemes.map((scheme) => holdsBy(scheme, paidBy(holds, scheme), now));
  const parts = [...claims, [openInvocationsInserted(requests)], ...held];
  if (!parts.every((part) => part !== null)) return null;
  return [
    ...salesGuards(
      ctx,
      items.map(({ sale }) => sale),
    ),
    ...livingGuards(requests),
    ...(waiting.length > 0 ? [noneUnpaid(waiting)] : []),
    ...(keys.length > 0 ? [freeKeysTaken(keys)] : []),
    ...parts.flat(),
    ...agreedTermsRecorded(
      items.flatMap(({ agreed }) => agreed),
      now,
    ),
  ];
}

const claimsOf = (scheme: PaymentScheme, means: readonly PaidBy[], now: Date) =>
  means.length === 0 || !scheme.claim ? [] : (scheme.claimAll?.(means, now) ?? null);

const holdsBy = (scheme: PaymentScheme, holds: readonly RequestHold[], now: Date) =>
  holds.length === 0 || !scheme.hold ? [] : (scheme.holdAll?.(holds, now) ?? null);

/**
 * Accepts a batch in one transaction. Its first statement compares the agents and is pipelined with the next. If an agent has changed,
 * which is rare, the transaction is undone and the other calls are accepted in another.
 */
async function acceptPresent(ctx: Store, items: readonly Acceptance[], locks: LockMode): Promise<AcceptAnswer[]> {
  if (items.length === 0) return [];
  try {
    const answers = await ctx.db.transaction(async (tx) => {
      const [sales, requests] = [items.map(({ sale }) => sale), items.map(({ invocation }) => invocation)];
      const how = { now: ctx.clock.now(), locks };
      const [changed, , found] = await Promise.all([
        findChanged(ctx, tx, sales),
        requireLiving(tx, requests),
        acceptAll(tx, items, how),
      ]);
      if (changed.size > 0) throw new ChangedSalesError(changed);
      failpoint('before-accept-commit');
      return found;
    }, limits);
    failpoint('after-accept-commit');
    return answers;
  } catch (error) {
    if (!(error instanceof ChangedSalesError)) throw error;
    const { changed } = error;
    const rest = items.filter(({ sale }) => !changed.has(sale));
    const answers = await acceptPresent(ctx, rest, locks);
    const answerOf = new Map(rest.map((item, index) => [item, answers[index] as AcceptAnswer]));
    return items.map((item) => answerOf.get(item) ?? { kind: 'agent_changed' });
  }
}

/** A request refused behind a larger one of the same treasury or budget may fit alone. */
const isBehindLarger = (answer: AcceptAnswer, priceMicro: bigint): boolean =>
  (answer.kind === 'insufficient' && answer.availableMicro >= priceMicro) ||
  (answer.kind === 'over_budget' && answer.remainingMicro >= priceMicro);

/**
 * The id of a paid request comes from its offer, so concurrent uses of one payment carry the same id: the later ones wait for the first and
 * find its result.
 */
async function acceptAll(tx: Tx, items: readonly Acceptance[], how: How): Promise<AcceptAnswer[]> {
  const seen = new Set<string>();
  const firsts = items.filter(({ invocation: { id } }) => !seen.has(id) && seen.add(id));
  const answers = new Map<Acceptance, AcceptAnswer>();
  const answer = (group: readonly Acceptance[], found: readonly AcceptAnswer[]) => {
    for (const [index, item] of group.entries()) answers.set(item, found[index] as AcceptAnswer);
  };
  answer(firsts, await acceptDistinct(tx, firsts, how));
  const twins = items.filter((item) => !answers.has(item));
  if (twins.length > 0) answer(twins, await acceptAll(tx, twins, how));
  return items.map((item) => answers.get(item) as AcceptAnswer);
}

/** Uses the quote, holds the money or claims the payment, and stores the request: in one transaction, all or nothing. */
async function acceptDistinct(tx: Tx, items: readonly Acceptance[], how: How): Promise<AcceptAnswer[]> {
  const { now } = how;
  const answers: Answers = new Map();
  for (const { invocation } of items) if (invocation.deadline <= now) answers.set(invocation.id, { kind: 'too_late' });
  const quoted = items.flatMap(({ quoteId, invocation: { id } }) =>
    quoteId && !answers.has(id) ? [{ quoteId, requestId: id }] : [],
  );
  const [used] = await Promise.all([useQuotes(tx, quoted), holdWaiting(tx, items, answers)]);
  for (const { requestId } of quoted)
    if (!used.has(requestId) && !answers.has(requestId)) answers.set(requestId, { kind: 'quote_used' });
  const keyed = stillOpen(items, answers);
  for (const id of await findKeyFirst(tx, keyed)) answers.set(id, { kind: 'key_first' });
  const open = stillOpen(keyed, answers);

  await spendAll(tx, open, how, answers);
  for (const scheme of schemes) {
    const claims = paidBy(stillOpen(open, answers).flatMap(paidByOf), scheme);
    if (claims.length > 0) record(answers, await scheme.claim?.(tx, claims, how));
  }
  const stored = stillOpen(open, answers).map(({ invocation }) => invocation);
  // Sent together; the ledger comes last, because many transactions need the same account.
  const holds = holdsOf(stored).filter((hold) => schemeOf(hold).hold !== undefined);
  const accounts = how.locks === 'skip' ? holds.map((each) => each.ledgerAccountId) : [];
  const [, , ...refusals] = await Promise.all([
    insertInvocations(tx, stored),
    accounts.length > 0 ? lockFree(tx, accounts) : null,
    // Accounts of channels come first in the order of ids, in which all transactions lock accounts.
    ...schemes.map((scheme) => holdBy(tx, scheme, paidBy(holds, scheme), how)),
  ]);
  for (const found of refusals) record(answers, found);
  await removeRefused(
    tx,
    stored.map(({ id }) => id).filter((id) => answers.has(id)),
  );
  const agreed = open.flatMap((item) => (answers.has(item.invocation.id) ? [] : item.agreed));
  await recordAgreedTerms(tx, agreed, now);
  await unspendRefused(tx, open, answers);
  await dropKeys(
    tx,
    open.flatMap(({ invocation, lateKey }) => (lateKey !== null && answers.has(invocation.id) ? [lateKey] : [])),
  );
  const refused = [...used].filter((id) => answers.has(id));
  await unuseQuotes(tx, refused);
  return items.map(({ invocation }) => answers.get(invocation.id) ?? { kind: 'accepted' });
}

/** Takes the free keys. Returns the calls with a key, or an id, that is already in use. */
async function findKeyFirst(tx: Tx, items: readonly Acceptance[]): Promise<string[]> {
  const late = items.flatMap(({ invocation: { id }, lateKey }) => (lateKey === null ? [] : [{ ...lateKey, id }]));
  const taken = await takeFreeKeys(tx, late);
  return late.flatMap(({ id }, index) => (taken[index] ? [] : [id]));
}

/**
 * Refuses calls that the caller ended while they waited for payment, under the id of the request or of the waiting call. Locks open ones,
 * so they can't end before the transaction does. Also refuses a payment for the terms of a waiting call that comes with another call, as
 * the waiting one was priced and shown.
 */
async function holdWaiting(tx: Tx, items: readonly Acceptance[], answers: Answers): Promise<void> {
  const kept = await holdUnpaid(tx, [...new Set(items.flatMap(waitingOf))]);
  for (const item of items) {
    const { id } = item.invocation;
    const [first] = waitingOf(item).filter((waitingId) => kept.has(waitingId) && waitingId !== item.waitingId);
    if (waitingOf(item).some((waitingId) => kept.get(waitingId)?.isEnded)) answers.set(id, { kind: 'given_up' });
    else if (first !== undefined) answers.set(id, { kind: 'waits' });
  }
}

const waitingOf = ({ invocation, means, waitingId }: Acceptance): string[] => [
  ...(means?.requestId === invocation.id ? [invocation.id] : []),
  ...(waitingId === undefined ? [] : [waitingId]),
];

async function spendAll(tx: Tx, items: readonly Acceptance[], { locks }: How, answers: Answers): Promise<void> {
  const spendings = items.flatMap(({ invocation: { id, priceMicro, createdAt }, budget }) =>
    budget ? [{ id, budget, amountMicro: priceMicro, spentAt: createdAt }] : [],
  );
  for (const [id, remainingMicro] of await spend(tx, spendings, locks))
    answers.set(id, { kind: 'over_budget', remainingMicro });
}

/** Returns the budget of requests refused for another reason. */
const unspendRefused = (tx: Tx, items: readonly Acceptance[], answers: Answers) =>
  unspend(
    tx,
    items.flatMap(({ invocation: { id, priceMicro, createdAt }, budget }) => {
      const answer = answers.get(id);
      if (!budget || !answer || answer.kind === 'over_budget') return [];
      return [{ budgetId: budget.budgetId, amountMicro: priceMicro, spentAt: createdAt }];
    }),
  );

const stillOpen = (items: readonly Acceptance[], answers: Answers): Acceptance[] =>
  items.filter(({ invocation }) => !answers.has(invocation.id));

/** The means of payment of a request, to be claimed under its id. */
const paidByOf = ({ invocation: { id }, means }: Acceptance): PaidBy[] =>
  means === null ? [] : [{ ...means, requestId: id }];

async function holdBy(
  tx: Tx,
  scheme: PaymentScheme,
  holds: readonly RequestHold[],
  how: How,
): Promise<Refusals | undefined> {
  return holds.length === 0 ? undefined : scheme.hold?.(tx, holds, how);
}

function record(answers: Answers, refusals: Refusals = new Map()): void {
  for (const [id, refusal] of refusals) answers.set(id, refusal);
}
