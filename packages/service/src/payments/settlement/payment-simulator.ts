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

/** All that decides about a payment: under one nonce a wallet may sign several that differ, and for a contract anybody may show others. */
const nameOf = ({ authorization, signature, depositCall }: SignedAuthorization): string => {
  const { to, valueMicro, validAfterS, validBeforeS } = authorization;
  return [authorizationKey(authorization), to, valueMicro, validAfterS, validBeforeS, signature, depositCall].join(' ');
};

/**
 * Simulates each payment once, even if it is shown several times at once: in one simulation its second transfer would fail. So would
 * another one under its nonce, which is simulated alone.
 */
export function createSimulator(ctx: HasUsdc): PaymentSimulator {
  const run = async (items: readonly SignedAuthorization[]) => {
    const distinct = [...new Map(items.map((item) => [nameOf(item), item])).values()];
    const nonces = distinct.map(({ authorization }) => authorizationKey(authorization));
    const isFirst = (index: number) => nonces.indexOf(nonces[index] ?? '') === index;
    const answerOf = new Map<string, string | null>();
    const ask = async (batch: readonly SignedAuthorization[]) => {
      const answers = await simulateAll(ctx, batch);
      for (const [index, item] of batch.entries()) answerOf.set(nameOf(item), answers[index] ?? null);
    };
    failpoint('before-simulate');
    const alone = distinct.filter((_, index) => !isFirst(index));
    await Promise.all([ask(distinct.filter((_, index) => isFirst(index))), ...alone.map((each) => ask([each]))]);
    failpoint('after-simulate');
    return items.map((item) => answerOf.get(nameOf(item)) ?? null);
  };
  const batcher = createBatcher({ run, maxSize: MAX_SIMULATED, canSplit: isAnswered });
  return { simulate: (payment) => batcher.add(payment) };
}

/** False for a timeout or lost connection, which affects all payments alike: retrying them one by one would only add their waits. */
const isAnswered = (error: unknown): boolean => !(error instanceof BaseError && error.walk(isSilence));

const isSilence = (cause: unknown): boolean =>
  cause instanceof TimeoutError || (cause instanceof HttpRequestError && cause.status === undefined);
