import { BaseError, HttpRequestError, TimeoutError } from 'viem';
import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { simulateAll } from './simulate-all.ts';

/** Simulates many payments in one call. */
export interface PaymentSimulator {
  /** The reason that the token would refuse the transfer now; null when it would accept it. */
  simulate(payment: SignedAuthorization): Promise<string | null>;
}

export interface HasSimulator {
  readonly simulator: PaymentSimulator;
}

const MAX_SIMULATED = 60;

/** All that decides about a payment: under one nonce a wallet may sign several that differ, and for a contract anybody may show others. */
const nameOf = ({ authorization, signature, depositCall }: SignedAuthorization): string => {
  const { to, valueMicro, validAfterS, validBeforeS } = authorization;
  return [authorizationKey(authorization), to, valueMicro, validAfterS, validBeforeS, signature, depositCall].join(' ');
};

/**
 * Simulates each payment once, even if it is shown several times at once: in one simulation its second transfer would fail. So would
 * another one under its nonce, whose turn comes after it: while the chain answers, a crowd of them delays nobody else.
 */
export function createSimulator(ctx: HasUsdc): PaymentSimulator {
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
