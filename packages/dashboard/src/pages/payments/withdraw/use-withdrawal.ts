import type { Api } from '@agent-network/contracts/api';
import type { Call } from '@agent-network/contracts/endpoint';
import { mayHaveHappened } from '@agent-network/sdk';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { client } from '../../../app/client.ts';
import { useSession } from '../../../app/session.ts';
import type { InjectedWallet } from '../../../wallet/injected-wallets.ts';
import { connectAs, signText } from '../../../wallet/sign-text.ts';
import { useMoneyMoved } from '../use-money-moved.ts';

export type WithdrawalWish = Call<Api['requestWithdrawal']>['body'];

/** One withdrawal, however often it is sent: under one key, with one proof. */
interface Attempt {
  readonly key: string;
  readonly body: Call<Api['withdraw']>['body'];
}

/**
 * Withdraws with a fresh signature of the account's wallet; local mode's own account needs none. While it is not known how a
 * withdrawal ended, the next call sends that one again, and asks for no signature.
 */
export function useWithdrawal() {
  const { address, isLocal } = useSession();
  const moneyMoved = useMoneyMoved();
  const attempt = useRef<Attempt | null>(null);

  async function prove(wish: WithdrawalWish, wallet: InjectedWallet | null): Promise<Attempt['body']> {
    if (isLocal) return wish;
    if (!wallet)
      throw new Error("Withdrawals are signed by the account's wallet. Open this page in a browser that has it.");
    await connectAs(wallet.provider, address);
    const { challengeId, message } = await client.requestWithdrawal({ body: wish });
    return { ...wish, proof: { challengeId, signature: await signText(wallet.provider, address, message) } };
  }

  const withdraw = useMutation({
    async mutationFn({ wish, wallet }: { wish: WithdrawalWish; wallet: InjectedWallet | null }) {
      attempt.current ??= { key: crypto.randomUUID(), body: await prove(wish, wallet) };
      const { key, body } = attempt.current;
      try {
        const withdrawal = await client.withdraw({ body }, { idempotencyKey: key });
        attempt.current = null;
        return withdrawal;
      } catch (error) {
        if (!mayHaveHappened(error)) attempt.current = null;
        throw error;
      }
    },
    onSettled: moneyMoved,
  });
  return { withdraw, isUncertain: withdraw.isError && attempt.current !== null };
}
