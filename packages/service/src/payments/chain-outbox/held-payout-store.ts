import type { Sql } from '../../store/sql.ts';
import type { ChainPayment } from './chain-payment.ts';
import { type ChainPaymentRow, chainPaymentColumns, toChainPayment } from './chain-payment-store.ts';

/** A refusal of a payout by the token. */
export interface Hold {
  readonly reason: string;
  readonly tries: number;
  readonly heldAt: Date;
  readonly nextTryAt: Date;
}

export interface HeldPayment {
  readonly payment: ChainPayment;
  readonly hold: Hold;
}

const heldColumns = `${chainPaymentColumns}, held_reason as "heldReason", tries, held_at as "heldAt", next_try_at as "nextTryAt"`;
const OPEN_AND_HELD = `chain_payment join (select payment_id, reason as held_reason, tries, held_at, next_try_at from held_payout) h
  on h.payment_id = id and state in ('claimed', 'broadcasting')`;

type Row = ChainPaymentRow & Omit<Hold, 'reason'> & { heldReason: string };

function toHeld({ heldReason: reason, tries, heldAt, nextTryAt, ...row }: Row): HeldPayment {
  return { payment: toChainPayment(row), hold: { reason, tries, heldAt, nextTryAt } };
}

/** SQL condition on `chain_payment`: the payment is not held, or is due to be tried again at the time of this parameter. */
export const isDueAt = (at: string): string =>
  `not exists (select from held_payout h where h.payment_id = chain_payment.id and h.next_try_at > ${at}::timestamptz)`;

/** SQL condition on `chain_payment`: the token has not refused it. */
export const IS_NOT_HELD = 'not exists (select from held_payout h where h.payment_id = chain_payment.id)';

/** Records a refusal. `pauseS` is the pause until the next try: doubled with each one, up to `maxS`. Returns the hold. */
export async function upsertHold(
  sql: Sql,
  paymentId: string,
  { reason, now, pauseS, maxS }: { reason: string; now: Date; pauseS: number; maxS: number },
): Promise<Hold> {
  const [row] = await sql.query<Hold>(
    'upsert-hold',
    `insert into held_payout as h (payment_id, reason, tries, held_at, next_try_at)
     values ($1, $2, 1, $3, $3::timestamptz + $4::int * interval '1 second')
     on conflict (payment_id) do update
        set reason = excluded.reason, tries = h.tries + 1,
            next_try_at = $3::timestamptz + least($4::int * 2 ^ least(h.tries, 20), $5::int) * interval '1 second'
     returning reason, tries, held_at as "heldAt", next_try_at as "nextTryAt"`,
    [paymentId, reason, now, pauseS, maxS],
  );
  return row as Hold;
}

/** An open payout that is held; null: there is none under this id. */
export async function findHeld(sql: Sql, paymentId: string): Promise<HeldPayment | null> {
  const [row] = await sql.query<Row>('find-held-payout', `select ${heldColumns} from ${OPEN_AND_HELD} where id = $1`, [
    paymentId,
  ]);
  return row ? toHeld(row) : null;
}

/** A payout that was credited here in place of its transfer, with the ledger account that has its money; null: there is none. */
export async function findCredited(
  sql: Sql,
  paymentId: string,
): Promise<{ readonly payment: ChainPayment; readonly creditId: string } | null> {
  const [row] = await sql.query<ChainPaymentRow & { creditId: string }>(
    'find-credited-payout',
    `select ${chainPaymentColumns}, t.credit_id as "creditId" from chain_payment
       join (select id as transfer_id, credit as credit_id from transfer) t
         on t.transfer_id in ('credit:' || id, 'return:' || subject_id)
      where id = $1 and direction = 'out' and state in ('settled', 'failed')`,
    [paymentId],
  );
  if (!row) return null;
  const { creditId, ...payment } = row;
  return { payment: toChainPayment(payment), creditId };
}

/** The oldest held payouts: of an account and to the wallets that it has proven, or all (null). */
export async function listHeld(sql: Sql, accountId: string | null, limit: number): Promise<HeldPayment[]> {
  const rows = await sql.query<Row>(
    'list-held-payouts',
    `select ${heldColumns} from ${OPEN_AND_HELD}
      where $1::text is null or account_id = $1
         or exists (select from account a where a.id = $1 and a.address = to_address and a.wallet_proven_at is not null)
         or exists (select from account_wallet w where w.account_id = $1 and w.address = to_address)
      order by held_at, id limit $2`,
    [accountId, limit],
  );
  return rows.map(toHeld);
}

/** Removes the holds of payouts that have ended, and counts the others. */
export async function countHeld(sql: Sql): Promise<number> {
  await sql.query(
    'drop-ended-holds',
    `delete from held_payout h using chain_payment p
      where p.id = h.payment_id and (p.state in ('failed', 'reversed') or p.state = 'settled' and p.lost_at is null)`,
  );
  const [row] = await sql.query<{ count: number }>(
    'count-held-payouts',
    'select count(*)::int as count from held_payout',
  );
  return row?.count ?? 0;
}

/** Turns an outgoing payment into one that is credited here: without a signature, it can never be sent. */
export const dropSignature = (sql: Sql, paymentId: string): Promise<unknown> =>
  sql.query('drop-signature', `update chain_payment set signature = '0x' where id = $1`, [paymentId]);
