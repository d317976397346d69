import type { HasDb } from '../db/database.ts';
import { isRolledBack } from '../db/is-rolled-back.ts';
import type { Tx } from '../db/sql.ts';
import { createBatcher } from '../lib/batcher.ts';
import type { HasClock } from '../lib/clock.ts';
import { claimPayments } from '../payments/claim-payments.ts';
import { holdMoney } from '../payments/hold-money.ts';
import type { NewChainPayment } from '../payments/x402/chain-payment.ts';
import type { Invocation } from './invocation.ts';
import { insertInvocations } from './invocation-store.ts';
import { unuseQuotes, useQuotes } from './quote-store.ts';

export interface Acceptance {
  readonly invocation: Invocation;
  readonly quoteId: string | null;
  /** The payment to claim for it (x402). */
  readonly payment: NewChainPayment | null;
}

export type AcceptAnswer =
  | { readonly kind: 'accepted' }
  /** The payment, or the offer that it answers, is another request's. */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'quote_used' }
  | { readonly kind: 'insufficient'; readonly availableMicro: bigint };

/** Accepts invocations: the one way in which a request begins to exist. */
export interface Acceptor {
  accept(acceptance: Acceptance): Promise<AcceptAnswer>;
}

export interface HasAcceptor {
  readonly acceptor: Acceptor;
}

const MAX_BATCH = 100;

/** Requests that come while others are being stored share the next transaction: one commit for many. */
export function createAcceptor(ctx: HasDb & HasClock): Acceptor {
  const run = (items: readonly Acceptance[]) => ctx.db.transaction((tx) => acceptAll(tx, items, ctx.clock.now()));
  const batcher = createBatcher<Acceptance, AcceptAnswer>({ run, maxSize: MAX_BATCH, canSplit: isRolledBack });
  return {
    async accept(acceptance) {
      const answer = await batcher.add(acceptance);
      const isBehindLarger =
        answer.kind === 'insufficient' && answer.availableMicro >= acceptance.invocation.priceMicro;
      return isBehindLarger ? ((await run([acceptance]))[0] as AcceptAnswer) : answer;
    },
  };
}

/**
 * The id of a paid request comes with the offer, so one payment shown several times at once brings it several times: those after
 * the first take their turn behind it, and find what it did.
 */
async function acceptAll(tx: Tx, items: readonly Acceptance[], now: Date): Promise<AcceptAnswer[]> {
  const seen = new Set<string>();
  const firsts = items.filter(({ invocation: { id } }) => !seen.has(id) && seen.add(id));
  const answers = new Map<Acceptance, AcceptAnswer>();
  const note = (group: readonly Acceptance[], found: readonly AcceptAnswer[]) => {
    for (const [index, item] of group.entries()) answers.set(item, found[index] as AcceptAnswer);
  };
  note(firsts, await acceptDistinct(tx, firsts, now));
  const twins = items.filter((item) => !answers.has(item));
  if (twins.length > 0) note(twins, await acceptAll(tx, twins, now));
  return items.map((item) => answers.get(item) as AcceptAnswer);
}

/** Quote used, money held or payment claimed, request stored: all in one transaction, or none of it. */
async function acceptDistinct(tx: Tx, items: readonly Acceptance[], now: Date): Promise<AcceptAnswer[]> {
  const answers = new Map<string, AcceptAnswer>();
  const quoted = items.flatMap(({ quoteId, invocation }) => (quoteId ? [{ quoteId, requestId: invocation.id }] : []));
  const used = await useQuotes(tx, quoted);
  for (const { requestId } of quoted) if (!used.has(requestId)) answers.set(requestId, { kind: 'quote_used' });
  const open = items.filter(({ invocation }) => !answers.has(invocation.id));

  await claimAll(tx, open, now, answers);
  await holdAll(tx, open, now, answers);
  const refused = [...used].filter((id) => answers.has(id));
  await unuseQuotes(tx, refused);

  const accepted = open.filter(({ invocation }) => !answers.has(invocation.id)).map(({ invocation }) => invocation);
  await insertInvocations(tx, accepted);
  return items.map(({ invocation }) => answers.get(invocation.id) ?? { kind: 'accepted' });
}

async function claimAll(
  tx: Tx,
  items: readonly Acceptance[],
  now: Date,
  answers: Map<string, AcceptAnswer>,
): Promise<void> {
  const paying = items.flatMap(({ payment }) => (payment ? [payment] : []));
  const claimed = await claimPayments(tx, paying, now);
  for (const payment of paying) if (!claimed.has(payment.id)) answers.set(payment.subjectId, { kind: 'claimed' });
}

async function holdAll(
  tx: Tx,
  items: readonly Acceptance[],
  now: Date,
  answers: Map<string, AcceptAnswer>,
): Promise<void> {
  const holding = items.flatMap(({ invocation, payment }) =>
    invocation.payerLedgerId && !payment
      ? [{ id: invocation.id, ledgerAccountId: invocation.payerLedgerId, amountMicro: invocation.priceMicro }]
      : [],
  );
  const holds = await holdMoney(tx, holding, now);
  for (const [index, hold] of holds.entries()) {
    const id = holding[index]?.id;
    if (id && !hold.isHeld) answers.set(id, { kind: 'insufficient', availableMicro: hold.availableMicro });
  }
}
