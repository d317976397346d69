import type { Authorization } from '../../chain/keys/authorization.ts';
import { run, type Sql, type Statement, type Tx } from '../../store/sql.ts';
import type { ChainPayment, ChainPurpose, NewChainPayment } from './chain-payment.ts';
import { paymentStatesThatTake } from './chain-payment-state.ts';
import type { RefusalReason } from './refusal-reason.ts';

export interface ChainPaymentRow extends Omit<ChainPayment, 'authorization'> {
  fromAddress: string;
  toAddress: string;
  nonce: string;
  valueMicro: bigint;
  validAfterS: bigint;
  validBeforeS: bigint;
}

export const chainPaymentColumns = `id, chain_id as "chainId", token, direction, purpose, subject_id as "subjectId", account_id as "accountId",
  ledger_account_id as "ledgerAccountId", from_address as "fromAddress", to_address as "toAddress", nonce,
  value_micro as "valueMicro", valid_after as "validAfterS", valid_before as "validBeforeS", signature, fingerprint,
  x402_version as "x402Version", state, reason, transaction_hash as "transactionHash", created_at as "createdAt",
  lost_at as "lostAt", client, channel_id as "channelId", deposit_call as "depositCall"`;

export function toChainPayment(row: ChainPaymentRow): ChainPayment {
  const { fromAddress: from, toAddress: to, nonce, valueMicro, validAfterS, validBeforeS, ...rest } = row;
  return { ...rest, authorization: { from, to, nonce, valueMicro, validAfterS, validBeforeS } };
}

/**
 * Claims payments, each authorization and each subject once. Returns the inserted ids. For the others the authorization or the subject is
 * already claimed; a request also by another payment, as under the Idempotency-Key that its id derives from.
 */
export async function insertChainPayments(
  sql: Sql,
  payments: readonly NewChainPayment[],
  now: Date,
): Promise<Set<string>> {
  const rows = await run(sql, chainPaymentsInserted(payments, now));
  return new Set(rows.map((row) => row.id));
}

/** Guarded flush statement that inserts payments. It fails unless all of them are new. */
export function newChainPaymentsInserted(payments: readonly NewChainPayment[], now: Date): Statement {
  const { text, params } = chainPaymentsInserted(payments, now);
  return {
    name: 'insert-new-chain-payments',
    text: `with inserted as (${text}) select require_true(count(*) = cardinality($1::text[])) from inserted`,
    params,
  };
}

function chainPaymentsInserted(payments: readonly NewChainPayment[], now: Date): Statement<{ id: string }> {
  const of = <T>(pick: (p: NewChainPayment) => T) => payments.map(pick);
  return {
    name: 'insert-chain-payments',
    text: `insert into chain_payment (id, chain_id, token, direction, purpose, subject_id, account_id, ledger_account_id, from_address,
        to_address, nonce, value_micro, valid_after, valid_before, signature, fingerprint, x402_version, client, channel_id,
        deposit_call, state, created_at)
     select n.*, 'claimed', $21 from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::bytea[],
        $17::smallint[], $18::text[], $19::text[], $20::text[])
        as n(id, chain, token, direction, purpose, subject, account, ledger, from_address, to_address, nonce, value, after, before,
             signature, fingerprint, version, client, channel, deposit_call)
      where n.purpose <> 'invocation' or not exists (select from channel_charge g where g.request_id = n.subject)
        and not exists (select from invocation v where v.id = n.subject)
     on conflict do nothing returning id`,
    params: [
      of((p) => p.id),
      of((p) => p.chainId),
      of((p) => p.token),
      of((p) => p.direction),
      of((p) => p.purpose),
      of((p) => p.subjectId),
      of((p) => p.accountId),
      of((p) => p.ledgerAccountId),
      of((p) => p.authorization.from),
      of((p) => p.authorization.to),
      of((p) => p.authorization.nonce),
      of((p) => p.authorization.valueMicro),
      of((p) => p.authorization.validAfterS),
      of((p) => p.authorization.validBeforeS),
      of((p) => p.signature),
      of((p) => p.fingerprint),
      of((p) => p.x402Version),
      of((p) => p.client ?? null),
      of((p) => p.channelId ?? null),
      of((p) => p.depositCall ?? null),
      now,
    ],
  };
}

/** Keys of a payment: its authorization, and its subject if known. */
export interface PaymentNames {
  readonly chainId: number;
  readonly token: string;
  readonly from: string;
  readonly nonce: string;
  readonly subjectId: string | null;
  readonly purpose: ChainPurpose;
}

/** For each entry: the payment with this authorization, otherwise the one for the same subject, in any state. */
export async function findByNames(sql: Sql, names: readonly PaymentNames[]): Promise<(ChainPayment | null)[]> {
  const of = <T>(pick: (each: PaymentNames) => T) => names.map(pick);
  const rows = await sql.query<ChainPaymentRow & { place: bigint }>(
    'find-chain-payments-by-names',
    `with shown as (
       select * from unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
         with ordinality as s(on_chain, of_token, payer, its_nonce, subject, paid_for, place)
     ), found as (
       select s.place, 1 as rank, p.* from shown s join chain_payment p
           on p.chain_id = s.on_chain and p.token = s.of_token and p.from_address = s.payer and p.nonce = s.its_nonce
       union all
       select s.place, 2, p.* from shown s join chain_payment p on p.subject_id = s.subject and p.purpose = s.paid_for
     )
     select distinct on (place) place, ${chainPaymentColumns} from found order by place, rank`,
    [
      of((each) => each.chainId),
      of((each) => each.token),
      of((each) => each.from),
      of((each) => each.nonce),
      of((each) => each.subjectId),
      of((each) => each.purpose),
    ],
  );
  const found = new Map(rows.map(({ place, ...row }) => [Number(place), toChainPayment(row)]));
  return names.map((_, index) => found.get(index + 1) ?? null);
}

export async function findById(sql: Sql, id: string): Promise<ChainPayment | null> {
  const rows = await sql.query<ChainPaymentRow>(
    'find-chain-payment',
    `select ${chainPaymentColumns} from chain_payment where id = $1`,
    [id],
  );
  return rows[0] ? toChainPayment(rows[0]) : null;
}

/** The deposit into a channel that is under way, otherwise the latest one; null: none. */
export async function findDepositBefore(sql: Sql, channelId: string): Promise<ChainPayment | null> {
  const rows = await sql.query<ChainPaymentRow>(
    'find-deposit-before',
    `select ${chainPaymentColumns} from chain_payment where channel_id = $1
      order by state in ('claimed', 'broadcasting') desc, created_at desc limit 1`,
    [channelId],
  );
  return rows[0] ? toChainPayment(rows[0]) : null;
}

/** The payment for a request, deposit or refund. */
export async function findBySubject(sql: Sql, subjectId: string, purpose: ChainPurpose): Promise<ChainPayment | null> {
  const rows = await sql.query<ChainPaymentRow>(
    'find-chain-payment-by-subject',
    `select ${chainPaymentColumns} from chain_payment where subject_id = $1 and purpose = $2`,
    [subjectId, purpose],
  );
  return rows[0] ? toChainPayment(rows[0]) : null;
}

/** Write-ahead: records the transaction that will carry the payments, those open or lost to a reorg. Returns their ids. */
export async function markBroadcasting(sql: Sql, ids: readonly string[], hash: string): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    'mark-broadcasting',
    `update chain_payment
        set state = case when lost_at is null then 'broadcasting' else state end, transaction_hash = $2
      where id = any($1) and (state = any($3) or (state = 'settled' and lost_at is not null))
      returning id`,
    [ids, hash, paymentStatesThatTake('broadcast')],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Guarded flush statement that marks payments, claimed in the same flush, as broadcasting. */
export const newPaymentsBroadcasting = (ids: readonly string[], hash: string): Statement => ({
  name: 'mark-new-broadcasting',
  text: `with marked as (
       update chain_payment set state = 'broadcasting', transaction_hash = $2 where id = any($1) and state = 'claimed' returning id
     ) select require_true(count(*) = cardinality($1::text[])) from marked`,
  params: [ids, hash],
});

/** Moves the payments of a transaction to its replacement. */
export async function moveToTransaction(sql: Sql, fromHash: string, toHash: string): Promise<void> {
  await sql.query(
    'move-to-transaction',
    `update chain_payment set transaction_hash = $2
      where transaction_hash = $1 and (state = 'broadcasting' or (state = 'settled' and lost_at is not null))`,
    [fromHash, toHash],
  );
}

/** The block of a payment. */
export interface PaymentPlace {
  readonly transactionHash: string | null;
  readonly blockNumber: bigint | null;
  readonly blockHash: string | null;
}

export interface PaymentEnd extends PaymentPlace {
  readonly id: string;
  readonly state: 'settled' | 'failed';
  readonly reason: string | null;
  /** True for late booking, which alone can settle a failed payment: it refunds the payer, as the call failed. */
  readonly isLate?: boolean;
}

export const nowhere: PaymentPlace = { transactionHash: null, blockNumber: null, blockHash: null };

export interface EndedRow {
  readonly id: string;
  readonly transactionHash: string | null;
  readonly createdAt: Date;
}

/** Ends payments; returns those that this call ended, each exactly once. A failed payment settles by late booking only. */
export async function endChainPayments(
  sql: Sql,
  ends: readonly PaymentEnd[],
  now: Date,
): Promise<Map<string, EndedRow>> {
  const rows = await sql.query<EndedRow>(
    'end-chain-payments',
    `update chain_payment p
        set state = e.state, reason = e.reason, transaction_hash = coalesce(e.hash, p.transaction_hash),
            block_number = e.block_number, block_hash = e.block_hash, ended_at = $7
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $10::bool[])
         as e(id, state, reason, hash, block_number, block_hash, is_late)
      where p.id = e.id and p.state = any(case when e.is_late then $8::text[] else $9::text[] end)
      returning p.id, p.transaction_hash as "transactionHash", p.created_at as "createdAt"`,
    [
      ends.map((e) => e.id),
      ends.map((e) => e.state),
      ends.map((e) => e.reason),
      ends.map((e) => e.transactionHash),
      ends.map((e) => e.blockNumber),
      ends.map((e) => e.blockHash),
      now,
      paymentStatesThatTake('bookLate'),
      paymentStatesThatTake('settle'),
      ends.map((e) => e.isLate ?? false),
    ],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The reasons of these payments that have failed, by id. */
export async function findFailures(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, RefusalReason>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.query<{ id: string; reason: RefusalReason }>(
    'find-payment-failures',
    `select id, reason from chain_payment where id = any($1) and state = 'failed'`,
    [ids],
  );
  return new Map(rows.map(({ id, reason }) => [id, reason]));
}

/** The fields of a payment that may have changed since it was read. */
export type PaymentStatus = Pick<ChainPayment, 'transactionHash'> & Pick<Authorization, 'validBeforeS'>;

/** Locks a payment until the transaction ends; null: there is none. */
export async function lockPaymentStatus(tx: Tx, id: string): Promise<PaymentStatus | null> {
  const [row] = await tx.query<PaymentStatus>(
    'lock-chain-payment',
    `select transaction_hash as "transactionHash", valid_before as "validBeforeS" from chain_payment where id = $1 for update`,
    [id],
  );
  return row ?? null;
}

/** Records the new block of a settled payment. */
export async function relocatePayment(sql: Sql, id: string, place: PaymentPlace): Promise<void> {
  await sql.query(
    'relocate-payment',
    `update chain_payment
        set transaction_hash = coalesce($2, transaction_hash), block_number = $3, block_hash = $4, lost_at = null
      where id = $1 and state = 'settled'`,
    [id, place.transactionHash, place.blockNumber, place.blockHash],
  );
}

/** Marks a settled payment as lost: its block is gone. */
export async function markLost(sql: Sql, id: string, now: Date): Promise<void> {
  await sql.query(
    'mark-payment-lost',
    `update chain_payment set block_number = null, block_hash = null, lost_at = coalesce(lost_at, $2)
      where id = $1 and state = 'settled'`,
    [id, now],
  );
}

/** Reverses the settlement of a lost payment. Null when it is mined again, already reversed, or belongs to another account by now. */
export async function reverseChainPayment(
  sql: Sql,
  { id, ledgerAccountId, reason, now }: { id: string; ledgerAccountId: string; reason: string; now: Date },
): Promise<EndedRow | null> {
  const [row] = await sql.query<EndedRow>(
    'reverse-chain-payment',
    `update chain_payment set state = 'reversed', reason = $2, ended_at = $3
      where id = $1 and lost_at is not null and state = any($4) and ledger_account_id = $5
      returning id, transaction_hash as "transactionHash", created_at as "createdAt"`,
    [id, reason, now, paymentStatesThatTake('reverse'), ledgerAccountId],
  );
  return row ?? null;
}

/** A payout as read, and as signed since. */
interface SignedPayout {
  readonly before: { readonly authorization: Pick<Authorization, 'from' | 'validBeforeS'> };
  readonly after: Pick<ChainPayment, 'id' | 'signature'> & {
    readonly authorization: Pick<Authorization, 'from' | 'validBeforeS'>;
  };
}

/**
 * Replaces the signature and the window of outgoing payments that are unsigned, or expired unused. The nonce stays, so the token pays each
 * at most once. Returns the ids of those that are open and unchanged since they were read; do not send the others, which another process
 * may have signed.
 */
export async function renewSignatures(sql: Sql, payouts: readonly SignedPayout[]): Promise<ReadonlySet<string>> {
  if (payouts.length === 0) return new Set();
  const rows = await sql.query<{ id: string }>(
    'renew-signatures',
    `update chain_payment p set valid_before = n.valid_before, signature = n.signature, from_address = n.from_address
       from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[])
         as n(id, valid_before, signature, from_address, read_before, read_from)
      where p.id = n.id and p.direction = 'out' and p.valid_before = n.read_before and p.from_address = n.read_from
        and (p.state = any($7) or (p.state = 'settled' and p.lost_at is not null)) returning p.id`,
    [
      ...[payouts.map(({ after }) => after.id), payouts.map(({ after }) => after.authorization.validBeforeS)],
      ...[payouts.map(({ after }) => after.signature), payouts.map(({ after }) => after.authorization.from)],
      ...[payouts.map(({ before }) => before.authorization.validBeforeS)],
      ...[payouts.map(({ before }) => before.authorization.from)],
      paymentStatesThatTake('broadcast'),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}
