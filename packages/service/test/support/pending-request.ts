import type { Invocation } from '../../src/calls/invocation.ts';
import { findInvocation, insertInvocations } from '../../src/calls/invocation-store.ts';
import type { Authorization } from '../../src/chain/keys/authorization.ts';
import { newId } from '../../src/lib/id.ts';
import type { NewChainPayment } from '../../src/payments/chain-outbox/chain-payment.ts';
import { insertChainPayments } from '../../src/payments/chain-outbox/chain-payment-store.ts';
import type { Sql } from '../../src/store/sql.ts';

/**
 * Inserts a request as left by a process that died right after accepting it: its payment is claimed and not sent. Everything else is copied
 * from an earlier request that this payer has paid for. `createdAt`: processes take over lost requests that are older than 10 s.
 */
export async function leavePending(
  sql: Sql,
  like: string,
  signed: { readonly authorization: Authorization; readonly signature: string },
  { chain, worker, createdAt }: { chain: { chainId: number; token: string }; worker: string | null; createdAt: Date },
): Promise<{ readonly invocation: Invocation; readonly payment: NewChainPayment }> {
  const before = await findInvocation(sql, like);
  if (!before?.payerLedgerId) throw new Error(`${like} was not paid for`);
  const invocation: Invocation = {
    ...before,
    ...{ id: newId('req'), status: 'pending', worker, attempt: 1, createdAt, startedAt: null, completedAt: null },
    ...{
      deadline: new Date(Date.now() + 600_000),
      result: null,
      costMicro: null,
      refundMicro: null,
      paymentHash: null,
    },
    ...{ errorCode: null, errorMessage: null },
  };
  const payment: NewChainPayment = {
    id: newId('pay'),
    ...{ chainId: chain.chainId, token: chain.token, direction: 'in', purpose: 'invocation' },
    ...{ subjectId: invocation.id, accountId: before.accountId, ledgerAccountId: before.payerLedgerId },
    ...{ authorization: signed.authorization, signature: signed.signature, fingerprint: null, x402Version: 2 },
  };
  await insertChainPayments(sql, [payment], new Date());
  await insertInvocations(sql, [invocation]);
  return { invocation, payment };
}
