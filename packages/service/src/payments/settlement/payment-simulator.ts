import { BaseError, HttpRequestError, TimeoutError } from 'viem';
import type { ChainAccess } from '../../chain/chain-access.ts';
import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import { isUsedBefore, NO_REASON } from '../../chain/usdc-client.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import type { RefusalReason } from '../chain-outbox/refusal-reason.ts';
import { cannotSettle } from '../chain-outbox/settlement-halt.ts';

/** Simulates many payments in one call. */
export interface PaymentSimulator {
  /** The reason that the token would refuse the transfer now; null when it would accept it. */
  simulate(payment: SignedAuthorization): Promise<string | null>;
}

const MAX_SIMULATED = 60;

/**
 * Name of a payment by all values that affect the simulation: under one nonce a wallet may sign several different payments, and for a
 * contract anyone can present others.
 */
const nameOf = ({ authorization, signature, depositCall }: SignedAuthorization): string => {
  const { to, valueMicro, validAfterS, validBeforeS } = authorization;
  return [authorizationKey(authorization), to, valueMicro, validAfterS, validBeforeS, signature, depositCall].join(' ');
};

/**
 * Simulates each payment once, even if it is presented several times at once: in one simulation its second transfer would fail. Payments
 * under the same nonce run one after another for the same reason, without delaying others.
 */
export function createSimulator(ctx: Pick<ChainAccess, 'usdc'>): PaymentSimulator {
  const run = async (batch: readonly SignedAuthorization[]) => {
    failpoint('before-simulate');
    const answers = await simulateAll(ctx, batch);
    failpoint('after-simulate');
    return answers;
  };
  const keyOf = ({ authorization }: SignedAuthorization) => authorizationKey(authorization);
  const batcher = createBatcher({ run, maxSize: MAX_SIMULATED, canSplit: isAnswered, keyOf });
  return { simulate: singleFlight(batcher.add, nameOf) };
}

/** False for a timeout or lost connection, which affects all payments alike: retrying them one by one would only add their waits. */
const isAnswered = (error: unknown): boolean => !(error instanceof BaseError && error.walk(isSilence));

const isSilence = (cause: unknown): boolean =>
  cause instanceof TimeoutError || (cause instanceof HttpRequestError && cause.status === undefined);

/**
 * For each transfer, the reason that the token would refuse it now; null when it would accept it. A transfer that fails without a reason in
 * a batch, where others may have used up the gas, is simulated again alone.
 */
export async function simulateAll(
  ctx: Pick<ChainAccess, 'usdc'>,
  batch: readonly SignedAuthorization[],
): Promise<(string | null)[]> {
  const answers = await ctx.usdc.simulate(batch);
  if (batch.length === 1) return answers;
  return Promise.all(
    answers.map(async (answer, index) => {
      const signed = batch[index];
      return answer === NO_REASON && signed ? ((await ctx.usdc.simulate([signed]))[0] ?? null) : answer;
    }),
  );
}

type Refused = Pick<NewChainPayment, 'direction'> & SignedAuthorization;
type RefusalContext = PaymentConditions & Pick<ChainAccess, 'usdc'>;

/** The payer's fault in a revert of the token, by its text; null: the text does not show one. */
export function reasonOfRevert(revert: string): RefusalReason | null {
  if (isUsedBefore(revert)) return 'invalid_exact_evm_nonce_already_used';
  if (/signature/i.test(revert)) return 'invalid_exact_evm_signature';
  // The time of the chain's last block decides, which is behind the node's.
  if (/not yet valid/i.test(revert)) return 'invalid_exact_evm_payload_authorization_valid_after';
  if (/expired/i.test(revert)) return 'invalid_exact_evm_payload_authorization_valid_before';
  if (/exceeds balance/i.test(revert)) return 'invalid_exact_evm_insufficient_balance';
  return null;
}

/**
 * The token's reason, if a refusal is not the payer's fault; null: it is. Asks the token only when the text does not show it. A payment
 * refused for such a reason has not failed: the token may accept it later. A token that accepts the wallet again by the time it is asked
 * may have refused it before, so only a refusal between two such answers is the payer's. Throws when the chain does not answer.
 */
export async function refusalOfNode(ctx: RefusalContext, payment: Refused, revert: string): Promise<string | null> {
  if (reasonOfRevert(revert)) return null;
  const cause = await ctx.settlementHalt.causeOf(payment);
  if (cause !== null) return cause;
  const [again = null] = await ctx.usdc.simulate([payment]);
  return again === null ? revert : ctx.settlementHalt.causeOf(payment);
}

/** Throws UNAVAILABLE when a refusal is not about the payer. */
export async function requireAboutPayer(ctx: RefusalContext, payment: Refused, revert: string): Promise<void> {
  const reason = await refusalOfNode(ctx, payment, revert);
  if (reason !== null) throw cannotSettle(reason);
}
