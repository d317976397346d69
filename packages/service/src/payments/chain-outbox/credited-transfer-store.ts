import type { IncomingTransfer } from '../../chain/incoming-transfer-client.ts';
import type { Authorization } from '../../chain/keys/authorization.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import type { Sql } from '../../store/sql.ts';
import type { ChainDirection } from './chain-payment.ts';
import type { ChainPaymentState } from './chain-payment-state.ts';

type Token = { readonly chainId: number; readonly token: string };
type PlacedTransfer = Omit<IncomingTransfer, 'nonce' | 'ordinal'> & { readonly nonce: string };

/**
 * Corrects the block of transfers that are booked already, whether or not they were marked as lost. From here on none of them can be
 * reversed for a missing block; a reversal in progress has finished when this returns.
 */
export async function relocateCredited(
  sql: Sql,
  { chainId, token }: Token,
  placed: readonly PlacedTransfer[],
): Promise<void> {
  const of = <T>(pick: (t: PlacedTransfer) => T) => placed.map(pick);
  await sql.query(
    'relocate-credited-transfers',
    `update chain_payment p
        set transaction_hash = t.hash, block_number = t.block, block_hash = t.block_hash, lost_at = null
       from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::text[])
         as t(from_address, nonce, value, hash, block, block_hash)
      where p.chain_id = $1 and p.token = $2 and p.from_address = t.from_address and p.nonce = t.nonce and p.direction = 'in'
        and p.value_micro = t.value and p.state = 'settled' and p.block_hash is distinct from t.block_hash`,
    [
      chainId,
      token,
      of((t) => t.from),
      of((t) => t.nonce),
      of((t) => t.valueMicro),
      of((t) => t.transactionHash),
      of((t) => t.blockNumber),
      of((t) => t.blockHash),
    ],
  );
}

export interface KnownPayment {
  readonly state: ChainPaymentState;
  readonly valueMicro: bigint;
  readonly direction: ChainDirection;
}

/** Booked payments with these nonces, by `authorizationKey`. */
export async function findPaymentsByNonce(
  sql: Sql,
  { chainId, token }: Token,
  keys: readonly Pick<Authorization, 'from' | 'nonce'>[],
): Promise<ReadonlyMap<string, KnownPayment>> {
  const rows = await sql.query<KnownPayment & { from: string; nonce: string }>(
    'find-payments-by-nonce',
    `select p.from_address as "from", p.nonce, p.state, p.value_micro as "valueMicro", p.direction from chain_payment p
       join unnest($3::text[], $4::text[]) as k(from_address, nonce) using (from_address, nonce)
      where p.chain_id = $1 and p.token = $2`,
    [chainId, token, keys.map(({ from }) => from), keys.map(({ nonce }) => nonce)],
  );
  return new Map(rows.map(({ from, nonce, ...known }) => [authorizationKey({ from, nonce }), known]));
}
