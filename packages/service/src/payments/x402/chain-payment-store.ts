import type { Sql } from '../../db/sql.ts';
import type { ChainPayment, ChainPurpose, NewChainPayment } from './chain-payment.ts';

interface Row extends Omit<ChainPayment, 'authorization'> {
  fromAddress: string;
  toAddress: string;
  nonce: string;
  valueMicro: bigint;
  validAfterS: bigint;
  validBeforeS: bigint;
}

const columns = `id, chain_id as "chainId", token, direction, purpose, subject_id as "subjectId", account_id as "accountId",
  ledger_account_id as "ledgerAccountId", from_address as "fromAddress", to_address as "toAddress", nonce,
  value_micro as "valueMicro", valid_after as "validAfterS", valid_before as "validBeforeS", signature, fingerprint,
  x402_version as "x402Version", state, reason, transaction_hash as "transactionHash", created_at as "createdAt"`;

function toChainPayment(row: Row): ChainPayment {
  const { fromAddress: from, toAddress: to, nonce, valueMicro, validAfterS, validBeforeS, ...rest } = row;
  return { ...rest, authorization: { from, to, nonce, valueMicro, validAfterS, validBeforeS } };
}

/**
 * Claims payments: each authorization, and each thing paid for, once. Returns the ids that are new; for the others somebody
 * has the authorization or the thing already.
 */
export async function insertChainPayments(
  sql: Sql,
  payments: readonly NewChainPayment[],
  now: Date,
): Promise<Set<string>> {
  const of = <T>(pick: (p: NewChainPayment) => T) => payments.map(pick);
  const rows = await sql.query<{ id: string }>(
    'insert-chain-payments',
    `insert into chain_payment (id, chain_id, token, direction, purpose, subject_id, account_id, ledger_account_id, from_address,
        to_address, nonce, value_micro, valid_after, valid_before, signature, fingerprint, x402_version, state, created_at)
     select *, 'claimed', $18 from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::bytea[],
        $17::smallint[])
     on conflict do nothing returning id`,
    [
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
      now,
    ],
  );
  return new Set(rows.map((row) => row.id));
}

/** The payment that holds this authorization, whatever became of it. */
export async function findByAuthorization(
  sql: Sql,
  key: { chainId: number; token: string; from: string; nonce: string },
): Promise<ChainPayment | null> {
  const rows = await sql.query<Row>(
    'find-chain-payment-by-authorization',
    `select ${columns} from chain_payment where chain_id = $1 and token = $2 and from_address = $3 and nonce = $4`,
    [key.chainId, key.token, key.from, key.nonce],
  );
  return rows[0] ? toChainPayment(rows[0]) : null;
}

export async function findById(sql: Sql, id: string): Promise<ChainPayment | null> {
  const rows = await sql.query<Row>('find-chain-payment', `select ${columns} from chain_payment where id = $1`, [id]);
  return rows[0] ? toChainPayment(rows[0]) : null;
}

/** The payment for a request, deposit or refund. */
export async function findBySubject(sql: Sql, subjectId: string, purpose: ChainPurpose): Promise<ChainPayment | null> {
  const rows = await sql.query<Row>(
    'find-chain-payment-by-subject',
    `select ${columns} from chain_payment where subject_id = $1 and purpose = $2`,
    [subjectId, purpose],
  );
  return rows[0] ? toChainPayment(rows[0]) : null;
}

/** Payments that nobody has brought to an end, made before a time of their direction's own. */
export async function listOpenChainPayments(
  sql: Sql,
  before: { readonly in: Date; readonly out: Date },
  limit: number,
): Promise<ChainPayment[]> {
  const rows = await sql.query<Row>(
    'list-open-chain-payments',
    `select ${columns} from chain_payment
      where state in ('claimed', 'broadcasting') and created_at <= case direction when 'in' then $1::timestamptz else $2 end
      order by created_at limit $3`,
    [before.in, before.out, limit],
  );
  return rows.map(toChainPayment);
}

/** Incoming payments that failed here, but whose authorization anybody may still submit. */
export async function listFailedUnexpired(sql: Sql, nowS: number, limit: number): Promise<ChainPayment[]> {
  const rows = await sql.query<Row>(
    'list-failed-unexpired',
    `select ${columns} from chain_payment
      where state = 'failed' and direction = 'in' and valid_before > $1 and created_at > now() - interval '2 days'
      order by created_at limit $2`,
    [nowS, limit],
  );
  return rows.map(toChainPayment);
}

/** Write-ahead: notes which transaction will carry the payments. Only payments that are not ended move. */
export async function markBroadcasting(sql: Sql, ids: readonly string[], transactionHash: string): Promise<void> {
  await sql.query(
    'mark-broadcasting',
    `update chain_payment set state = 'broadcasting', transaction_hash = $2
      where id = any($1) and state in ('claimed', 'broadcasting')`,
    [ids, transactionHash],
  );
}

export interface PaymentEnd {
  readonly id: string;
  readonly state: 'settled' | 'failed';
  readonly reason: string | null;
  readonly transactionHash: string | null;
  readonly blockNumber: bigint | null;
}

export interface EndedRow {
  readonly id: string;
  readonly transactionHash: string | null;
  readonly createdAt: Date;
}

/** Ends payments; returns those that this call ended, each exactly once. A failed one that landed after all may still settle. */
export async function endChainPayments(
  sql: Sql,
  ends: readonly PaymentEnd[],
  now: Date,
): Promise<Map<string, EndedRow>> {
  const rows = await sql.query<EndedRow>(
    'end-chain-payments',
    `update chain_payment p
        set state = e.state, reason = e.reason, transaction_hash = coalesce(e.hash, p.transaction_hash),
            block_number = e.block_number, ended_at = $6
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) as e(id, state, reason, hash, block_number)
      where p.id = e.id and (p.state in ('claimed', 'broadcasting') or (p.state = 'failed' and e.state = 'settled'))
      returning p.id, p.transaction_hash as "transactionHash", p.created_at as "createdAt"`,
    [
      ends.map((e) => e.id),
      ends.map((e) => e.state),
      ends.map((e) => e.reason),
      ends.map((e) => e.transactionHash),
      ends.map((e) => e.blockNumber),
      now,
    ],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Replaces the signature window of an outgoing payment that expired unused. The nonce stays, so it can pay only once. */
export async function renewSignature(sql: Sql, id: string, validBeforeS: bigint, signature: string): Promise<void> {
  await sql.query(
    'renew-signature',
    `update chain_payment set valid_before = $2, signature = $3
      where id = $1 and direction = 'out' and state in ('claimed', 'broadcasting')`,
    [id, validBeforeS, signature],
  );
}
