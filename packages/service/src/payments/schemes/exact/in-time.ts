import { setTimeout as sleep } from 'node:timers/promises';
import { NodeBehindError } from '../../../chain/chain-reads.ts';
import type { SignedAuthorization } from '../../../chain/settlement-call.ts';
import { until } from '../../../lib/concurrency/until.ts';
import type { Store } from '../../../store/database.ts';
import type { PaymentChecks } from './payment-checks.ts';

/** Maximum wait for a clock or an RPC node that is a little behind. It is part of the caller's own wait. */
const WAIT_MS = 5_000;

/** Waits until a payment is valid by the clock of this node, if that is soon. A timer may end before the clock shows its time. */
export async function awaitValidity({ clock }: Pick<Store, 'clock'>, validAfterS: bigint): Promise<void> {
  const leftMs = () => Math.ceil(Number(validAfterS) * 1000 - clock.now().getTime());
  const endMs = performance.now() + 1.5 * WAIT_MS;
  for (let ms = leftMs(); ms > 0 && ms <= WAIT_MS && performance.now() < endMs; ms = leftMs()) await sleep(ms);
}

type Answer = { readonly revert: string | null } | NodeBehindError;

/**
 * The reason that the token would refuse a payment; null when it would accept it. Asked again for some seconds while a node that is behind
 * refuses it, or the chain's time is not there yet.
 */
export async function simulateInTime(
  { simulator }: PaymentChecks,
  payment: SignedAuthorization,
): Promise<string | null> {
  const told: { last: Answer } = { last: { revert: null } };
  const look = async () => {
    told.last = await simulator.simulate(payment).then(
      (revert) => ({ revert }),
      (error) => {
        if (error instanceof NodeBehindError) return error;
        throw error;
      },
    );
    const { last } = told;
    return last instanceof NodeBehindError || isEarly(last.revert) ? null : last;
  };
  const answer = (await until(look, { timeoutMs: WAIT_MS, firstMs: 200, maxMs: 800 })) ?? told.last;
  if (answer instanceof NodeBehindError) throw answer;
  return answer.revert;
}

const isEarly = (revert: string | null): boolean => revert !== null && /not yet valid/i.test(revert);
