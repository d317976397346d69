import { BaseError, HttpRequestError, TimeoutError } from 'viem';
import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
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

/** Simulates each authorization once, even if it is shown several times at once: in one simulation its second transfer would fail. */
export function createSimulator(ctx: HasUsdc): PaymentSimulator {
  const run = async (items: readonly SignedAuthorization[]) => {
    const distinct = new Map(items.map((item) => [authorizationKey(item.authorization), item]));
    failpoint('before-simulate');
    const answers = await simulateAll(ctx, [...distinct.values()]);
    failpoint('after-simulate');
    const answerOf = new Map([...distinct.keys()].map((key, index) => [key, answers[index] ?? null]));
    return items.map((item) => answerOf.get(authorizationKey(item.authorization)) ?? null);
  };
  const batcher = createBatcher({ run, maxSize: MAX_SIMULATED, canSplit: isAnswered });
  return { simulate: (payment) => batcher.add(payment) };
}

/** False for a timeout or lost connection, which affects all payments alike: retrying them one by one would only add their waits. */
const isAnswered = (error: unknown): boolean => !(error instanceof BaseError && error.walk(isSilence));

const isSilence = (cause: unknown): boolean =>
  cause instanceof TimeoutError || (cause instanceof HttpRequestError && cause.status === undefined);
