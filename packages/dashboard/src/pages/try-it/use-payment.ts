import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { useState } from 'react';
import { useSessionInfo } from '../../app/session.ts';
import { channelPayer } from '../../wallet/channel-payer.ts';
import { type InjectedWallet, useInjectedWallets } from '../../wallet/injected-wallets.ts';
import { type WalletPayer, walletPayer } from '../../wallet/wallet-payer.ts';
import type { Attempt } from './attempt.ts';
import { type CallValues, callBody } from './call-values.ts';
import { useWalletChannel } from './channel-panel.tsx';
import { knownChannel, planOf, usualDeposit } from './channel-plan.ts';
import { TREASURY, walletChoice } from './pay-choice.tsx';

export type Payment = ReturnType<typeof usePayment>;

/** The choice of the payer, and of a channel's deposit, for a call at this price. `calls` differs after each call. */
export function usePayment(price: string, calls: unknown) {
  const [payer, setPayer] = useState(TREASURY);
  const [typed, setDeposit] = useState<string | null>(null);
  const wallets = useInjectedWallets();
  const isFree = Number(price) === 0;
  const choice = isFree ? null : walletChoice(payer);
  const wallet = choice ? wallets.find(({ id }) => id === choice.walletId) : null;
  const byChannel = choice?.isByChannel ? (wallet ?? undefined) : undefined;
  const { data: found, error } = useWalletChannel(byChannel, calls);
  const deposit = typed ?? usualDeposit(price);
  /** True while it is not known what the wallet would be asked to sign. */
  const isUnknown = byChannel !== undefined && found === undefined;
  return {
    payer,
    setPayer,
    isFree,
    choice,
    wallet,
    isUnknown,
    channel: { wallet: byChannel, found, error, deposit, setDeposit },
  };
}

/** Makes an attempt of what was quoted; when a wallet pays, it is readied first, and pays no more than the quote. */
export function useOpenAttempt(agentId: string, { choice, wallet, channel }: Payment) {
  const { chainId, usdc } = useSessionInfo();
  const paidIn = { chainId, usdc };
  const payerOf = ({ provider }: InjectedWallet, most: string): Promise<WalletPayer> => {
    if (!choice?.isByChannel) return walletPayer(provider, paidIn, most);
    const { needsDeposit, problem } = planOf(most, channel.deposit, knownChannel(channel.found));
    if (problem) throw new Error(`The deposit ${problem}. Nothing was signed.`);
    return channelPayer(provider, paidIn, { most, deposit: channel.deposit.trim(), needsDeposit });
  };
  return async (values: CallValues, quote: Quote): Promise<Attempt> => {
    const most = quote.estimatedCost;
    if (wallet === undefined) throw new Error('The wallet is no longer available in this browser.');
    return {
      key: crypto.randomUUID(),
      agentId,
      body: callBody(values, Date.now(), most),
      quoteId: quote.quoteId,
      mode: values.mode,
      payer: wallet && (await payerOf(wallet, most)),
      isFree: Number(most) === 0,
    };
  };
}
