import { createClient, type PaymentHeaders } from '@agent-network/sdk';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { client } from '../../app/client.ts';
import { useSessionInfo } from '../../app/session.ts';
import type { Eip1193Provider } from '../../wallet/injected-wallets.ts';
import { walletPayer } from '../../wallet/wallet-payer.ts';
import { mayHaveHappened } from '../../app/may-have-happened.ts';
import { useMoneyMoved } from './use-money-moved.ts';

export interface DepositWish {
  readonly amount: string;
  /** undefined: the treasury of the account, which is opened when there is none. */
  readonly treasuryId?: string | undefined;
}

/** One deposit, however often it is sent: under one key, with one signed payment. */
interface Attempt {
  readonly key: string;
  readonly wish: DepositWish;
  payment: PaymentHeaders | null;
}

const paymentOf = (error: unknown): PaymentHeaders | null =>
  (error as { paymentHeaders?: PaymentHeaders } | null)?.paymentHeaders ?? null;

/**
 * Deposits from a wallet of this browser. While it is not known how a deposit ended, the next call sends that one again, and signs
 * nothing.
 */
export function useDeposit() {
  const { chainId, usdc } = useSessionInfo();
  const moneyMoved = useMoneyMoved();
  const attempt = useRef<Attempt | null>(null);

  async function send(current: Attempt, provider: Eip1193Provider) {
    const { amount, treasuryId = (await client.createTreasury({ body: {} })).treasuryId } = current.wish;
    const body = { amount, treasuryId };
    const options = { idempotencyKey: current.key };
    if (current.payment) return client.depositToTreasury({ body, headers: current.payment }, options);
    const payer = await walletPayer(provider, { chainId, usdc }, amount);
    return createClient({ baseUrl: location.origin, payer, timeoutMs: 40_000 }).depositToTreasury({ body }, options);
  }

  const deposit = useMutation({
    async mutationFn({ provider, wish }: { provider: Eip1193Provider; wish: DepositWish }) {
      attempt.current ??= { key: crypto.randomUUID(), wish, payment: null };
      const current = attempt.current;
      try {
        const receipt = await send(current, provider);
        attempt.current = null;
        return receipt;
      } catch (error) {
        current.payment ??= paymentOf(error);
        if (!current.payment || !mayHaveHappened(error)) attempt.current = null;
        throw error;
      }
    },
    onSettled: moneyMoved,
  });
  return {
    deposit,
    isUncertain: deposit.isError && mayHaveHappened(deposit.error) && paymentOf(deposit.error) !== null,
  };
}
