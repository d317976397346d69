import { mayHaveHappened } from '@agent-network/sdk';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { client, payingClient } from '../../app/client.ts';
import { useSessionInfo } from '../../app/session.ts';
import type { Eip1193Provider } from '../../wallet/injected-wallets.ts';
import { type WalletPayer, walletPayer } from '../../wallet/wallet-payer.ts';
import { useMoneyMoved } from './use-money-moved.ts';

export interface DepositWish {
  readonly amount: string;
  /** undefined: the treasury of the account, which is opened when there is none. */
  readonly treasuryId?: string | undefined;
}

/** One deposit, however often it is sent: under one key, with one signed payment. */
interface Attempt {
  readonly key: string;
  readonly payer: WalletPayer;
  readonly body: { readonly amount: string; readonly treasuryId: string };
}

/**
 * Deposits from a wallet of this browser. While it is not known how a deposit ended, the next call sends that one again, and signs
 * nothing.
 */
export function useDeposit() {
  const { chainId, usdc } = useSessionInfo();
  const moneyMoved = useMoneyMoved();
  const attempt = useRef<Attempt | null>(null);

  async function begin(provider: Eip1193Provider, { amount, treasuryId }: DepositWish): Promise<Attempt> {
    const payer = await walletPayer(provider, { chainId, usdc }, amount);
    const into = treasuryId ?? (await client.createTreasury({ body: {} })).treasuryId;
    return { key: crypto.randomUUID(), payer, body: { amount, treasuryId: into } };
  }

  const deposit = useMutation({
    async mutationFn({ provider, wish }: { provider: Eip1193Provider; wish: DepositWish }) {
      attempt.current ??= await begin(provider, wish);
      const { key, payer, body } = attempt.current;
      try {
        const receipt = await payingClient(payer).depositToTreasury({ body }, { idempotencyKey: key });
        attempt.current = null;
        return receipt;
      } catch (error) {
        if (!payer.signed() || !mayHaveHappened(error)) attempt.current = null;
        throw error;
      }
    },
    onSettled: moneyMoved,
  });
  return { deposit, isUncertain: deposit.isError && attempt.current !== null };
}
