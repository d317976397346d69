import { BaseError, HttpRequestError, TimeoutError } from 'viem';
import type { SignedAuthorization } from '../../chain/settlement-call.ts';
import type { HasUsdc } from '../../chain/usdc-client.ts';
import { authorizationKey } from '../../chain/used-authorizations.ts';
import { createBatcher } from '../../lib/batcher.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { simulateAll } from './simulate-all.ts';

/** Asks the chain about many payments in one call. */
export interface PaymentSimulator {
  /** Why the token would refuse the transfer now; null when it would not. */
  simulate(payment: SignedAuthorization): Promise<string | null>;
}

export interface HasSimulator {
  readonly simulator: PaymentSimulator;
}

const MAX_SIMULATED = 60;

/** A payment shown several times at once is asked about once: in one simulation its second transfer would fail. */
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

/** A chain that does not answer concerns all alike: to ask it about each by itself would keep them waiting one after the other. */
const isAnswered = (error: unknown): boolean => !(error instanceof BaseError && error.walk(isSilence));

const isSilence = (cause: unknown): boolean =>
  cause instanceof TimeoutError || (cause instanceof HttpRequestError && cause.status === undefined);
