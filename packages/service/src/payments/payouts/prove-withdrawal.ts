import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { Withdrawal } from '@agent-network/contracts/payments/payments';
import type { AccountServices } from '../../accounts/account-services.ts';
import type { AccountCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import {
  type ChallengeContext,
  giveChallenge,
  judgeChallenge,
  type SignedChallenge,
  useChallenge,
} from '../../accounts/proofs/prove-wallet.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { invariant } from '../../lib/invariant.ts';
import { withdraw } from './withdraw.ts';
import { onNetworkOf, type WithdrawalApproval, type WithdrawInput, withdrawalTerms } from './withdrawal-terms.ts';

type WithdrawContext = Parameters<typeof withdraw>[0] & ChallengeContext & AccountServices;

/** A challenge of the account, signed by its wallet; replaces the scope. */
type Proof = { readonly challengeId: string; readonly signature: string };

/**
 * Issues the text that the account's wallet signs to let a session withdraw: it names amount, source and recipient. Valid for five minutes
 * and one withdrawal. Throws as a withdrawal of these terms does; funds are checked at the withdrawal.
 */
export async function requestWithdrawal(
  ctx: WithdrawContext,
  caller: AccountCaller,
  input: WithdrawInput,
  once: Once = unkeyed,
): Promise<DataOf<Api['requestWithdrawal']>> {
  const { terms: withdrawal } = await withdrawalTerms(onNetworkOf(ctx, input), caller, input);
  const { accountId, address } = caller;
  const { nonce: _, ...given } = giveChallenge(ctx, { accountId, agentId: null, address, withdrawal });
  return ctx.db.transaction((tx) => once.keep(tx, given));
}

/**
 * Withdraws as `withdraw` does; a session may withdraw only the exact terms that its wallet signed, once. Local mode's own account signs
 * nothing: the node holds its key. Throws FORBIDDEN without a proof, and as `judgeChallenge` does for an invalid one.
 */
export function withdrawProven(
  ctx: WithdrawContext,
  caller: AccountCaller,
  { proof, ...input }: WithdrawInput & { readonly proof?: Proof | undefined },
  once: Once = unkeyed,
): Promise<Withdrawal> {
  return withdraw(ctx, caller, input, { once, approval: approvalFor(ctx, caller, proof) });
}

function approvalFor(ctx: WithdrawContext, caller: AccountCaller, proof: Proof | undefined): WithdrawalApproval | null {
  if (!caller.session) {
    if (proof) throw invalid('proof', 'is for sessions; a key needs its scope only');
    return null;
  }
  if (caller.session.isLocal && caller.address === ctx.localAccount) return null;
  if (!proof)
    throw new AppError(
      'FORBIDDEN',
      'A session withdraws with a signature of the wallet: get the text from POST /payments/withdraw/challenge, and send it signed as "proof".',
    );
  let judged: SignedChallenge | null = null;
  return {
    async judge(withdrawal) {
      judged = await judgeChallenge(ctx, caller.accountId, proof, { purpose: 'withdrawal', withdrawal });
    },
    async use(tx) {
      invariant(judged !== null, 'a proof is judged before it is used');
      await useChallenge(tx, judged, ctx.clock.now());
    },
  };
}
