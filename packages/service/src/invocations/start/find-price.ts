import type { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { countUnits } from '../../agents/count-units.ts';
import type { HasTypeChecks } from '../../agents/types/type-checks.ts';
import type { ChainPayment } from '../../payments/onchain/chain-payment.ts';
import { isOpen } from '../../payments/onchain/chain-payment-state.ts';
import { requireAtHome } from '../remote/require-at-home.ts';
import { lockedPrice } from './locked-price.ts';

type PriceContext = Parameters<typeof lockedPrice>[0] & HasTypeChecks;

/** The parts of a call that decide its price. */
interface Priced {
  readonly quoteId: string | null;
  readonly body: InvocationRequest;
  readonly via: string | null;
  readonly shown: object | null;
  readonly keyless?: object;
}

/** The agent that was asked for, and the price of the call. Throws VALIDATION_ERROR for an input that the agent does not take. */
export async function findPriced(
  ctx: PriceContext,
  caller: KnownCaller,
  input: Priced,
  looking: Promise<CallableAgent>,
): Promise<{ readonly asked: CallableAgent; readonly price: Awaited<ReturnType<typeof lockedPrice>> }> {
  const asked = await looking;
  requireAtHome(asked, caller, input.via);
  const requireInput = () => ctx.typeChecks.requireInput(asked, input.body);
  const hasPrice = asked.perUnit === null || countUnits(asked.perUnit, input.body.input) !== null;
  // Whoever asks a wallet's price is told that, whatever else is wrong with the body; it is refused when the payment is here.
  const isUnpaid = input.keyless !== undefined && input.shown === null && hasPrice;
  if (!isUnpaid) await requireInput();
  const price = await lockedPrice(ctx, caller, asked, input);
  if (isUnpaid && price.priceMicro === 0n) await requireInput();
  return { asked, price };
}

/**
 * The terms to repeat if a payment that was shown before has failed. While it is in flight, a present refusal is not the answer: the call
 * may have run.
 */
export async function priceAgain(
  ctx: PriceContext,
  caller: KnownCaller,
  input: Priced,
  shown: { found: ChainPayment; offeredId: string | null; looking: Promise<CallableAgent> },
): Promise<bigint> {
  const { found, offeredId, looking } = shown;
  const { valueMicro } = found.authorization;
  try {
    const { price } = await findPriced(ctx, caller, input, looking);
    return offeredId ? valueMicro : price.priceMicro;
  } catch (error) {
    if (isOpen(found.state)) return valueMicro;
    throw error;
  }
}
