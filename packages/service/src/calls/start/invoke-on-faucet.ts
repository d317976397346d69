import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { openPayerAccount } from '../../accounts/payer-account.ts';
import { invalid } from '../../lib/app-error.ts';
import {
  endGrant,
  noteGrant,
  requireFaucet,
  returnGrant,
  signFromFaucet,
  type TestFundsServices,
} from '../../payments/deposits/test-grant.ts';
import { PaymentRequiredError } from '../../payments/x402/payment-required.ts';
import {
  invokeKeyless,
  type KeylessContext,
  type KeylessInput,
  type KeylessInvoked,
  networkOfVisitor,
  requireVisitable,
} from './invoke-keyless.ts';

/**
 * Starts a call for a visitor without account or wallet: the faucet's wallet pays it by x402, as any wallet does. The signed
 * payment never leaves the node, and its nonce binds it to this call. The gift is noted within the bounds of the faucet before the payment
 * is claimed. A visitor's Idempotency-Key counts within its network: a repetition finds the same call, which is paid once. Throws
 * NOT_FOUND where the node gives no test money, VALIDATION_ERROR for a price above a gift, RATE_LIMITED at a bound, UNAVAILABLE when the
 * faucet could not pay.
 */
export async function invokeOnFaucet(
  ctx: KeylessContext & TestFundsServices,
  input: Omit<KeylessInput, 'shown' | 'signedIn'>,
): Promise<KeylessInvoked> {
  const faucet = requireFaucet(ctx);
  requireVisitable(input, input.body);
  const unpaid = await invokeKeyless(ctx, { ...input, shown: null, signedIn: null }).catch((error: unknown) => {
    if (!(error instanceof PaymentRequiredError)) throw error;
    return error;
  });
  if (!(unpaid instanceof PaymentRequiredError)) return unpaid;
  const { offer, memo, amountMicro } = ofOwnNetwork(ctx, unpaid);
  const most = ctx.faucetSettings.amountMicro;
  if (amountMicro > most)
    throw invalid('X-Payment-Method', `must be x402: test money pays for calls of at most ${formatUsdc(most)} USDC`);
  const shown = await signFromFaucet(ctx, faucet, amountMicro, offer);
  const { idempotencyKey } = input;
  try {
    const invoked = await invokeKeyless(ctx, {
      ...{ ...input, shown, signedIn: null },
      idempotencyKey: idempotencyKey && `${networkOfVisitor(input)} ${idempotencyKey}`,
      async count() {
        const { accountId } = await openPayerAccount(ctx, faucet.address, ctx.clock.now());
        // All visitors share this account: the bounds of their networks and of the node count.
        const perAccount = ctx.faucetSettings.perDay;
        await noteGrant(ctx, faucet, { id: memo, accountId, client: networkOfVisitor(input), perAccount });
      },
    });
    if (invoked.isReplay) await returnGrant(ctx, memo);
    // Only its key finds an earlier call: the payment is a new one.
    return { ...invoked, isWithheld: false };
  } catch (error) {
    return endGrant(ctx, memo, error);
  }
}

/** The offer of a 402 for a transfer on the default network, and the id of the request that its payment makes. */
function ofOwnNetwork({ chain }: KeylessContext, { offer: { v2, payment } }: PaymentRequiredError) {
  const offer = v2.accepts.find(
    ({ scheme, network, asset }) =>
      scheme === 'exact' && network === chain.caip2 && asset.toLowerCase() === chain.token.toLowerCase(),
  );
  if (!offer) throw invalid('X-Payment-Method', 'must be x402: this call is not paid in test money');
  return { offer, memo: payment.memo, amountMicro: parseUsdc(payment.amount) };
}
