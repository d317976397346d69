import type { AccountCaller } from '../../accounts/caller.ts';
import { keylessCaller } from '../../accounts/keyless-caller.ts';
import { mayRead } from '../../accounts/payer-account.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import { plainId } from '../../payments/ledger/asset-account.ts';
import { payerAccountId } from '../../payments/ledger/treasury.ts';
import type { Store } from '../../store/database.ts';
import { isAnswerToken, isResultToken } from '../read-invocation.ts';
import { findStates } from '../record-store.ts';

/** Proof of a reader without an API key: one of these. */
export interface ReadProof {
  readonly resultToken: string | null;
  /** The wallet that has signed in, in lower case. */
  readonly signedIn: string | null;
}

/**
 * The caller that reads one request without an API key: by its resultToken, or by the wallet that paid for it or owns its account. Throws
 * UNAUTHORIZED for another token, and NOT_FOUND for another wallet.
 */
export async function keylessReader(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  requestId: string,
  { resultToken, signedIn }: ReadProof,
): Promise<AccountCaller> {
  const isShown = resultToken !== null && isResultToken(ctx, requestId, resultToken);
  if (!isShown && signedIn === null) throw new AppError('UNAUTHORIZED', 'The resultToken is not that of this request.');
  const [found] = await findStates(ctx.db, [requestId]);
  if (!found || !(isShown || (await isPayer(ctx, found, signedIn ?? '')))) throw notFound('request');
  return { ...keylessCaller(null), accountId: found.accountId };
}

/** The caller that answers or cancels one request without an API key, by its answerToken. Throws UNAUTHORIZED for another token. */
export async function keylessAnswerer(
  ctx: Store & Pick<NodeKeys, 'secrets'>,
  requestId: string,
  answerToken: string,
): Promise<AccountCaller> {
  if (!isAnswerToken(ctx, requestId, answerToken))
    throw new AppError('UNAUTHORIZED', 'The answerToken is not that of this request.');
  const [found] = await findStates(ctx.db, [requestId]);
  if (!found) throw notFound('request');
  return { ...keylessCaller(null), accountId: found.accountId };
}

const isPayer = (
  ctx: Store,
  { accountId, payerLedgerId }: { accountId: string; payerLedgerId: string | null },
  address: string,
) =>
  mayRead(ctx, {
    address,
    accountId,
    hasPaid: payerLedgerId !== null && plainId(payerLedgerId) === payerAccountId(address),
  });
