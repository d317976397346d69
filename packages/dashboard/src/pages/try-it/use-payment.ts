import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../app/client.ts';
import { useSessionInfo } from '../../app/session.ts';
import { useSettled } from '../../app/use-settled.ts';
import { problemsOf } from '../../forms/problems.ts';
import { channelPayer } from '../../wallet/channel-payer.ts';
import { type InjectedWallet, useInjectedWallets } from '../../wallet/injected-wallets.ts';
import { type WalletPayer, walletPayer } from '../../wallet/wallet-payer.ts';
import { type CallValues, callBody, quoteQuery } from './call-values.ts';
import { useWalletChannel } from './channel-panel.tsx';
import { knownChannel, planOf, usualDeposit } from './channel-plan.ts';
import { TREASURY, walletChoice } from './pay-choice.tsx';
import type { Attempt } from './use-attempt.ts';

const PAUSE_MS = 400;
/** A quote that ends sooner is replaced, so that a call does not come too late. */
const SPARE_MS = 30_000;

const msLeft = ({ validUntil }: Quote): number => Date.parse(validUntil) - Date.now() - SPARE_MS;

interface QuoteState {
  /** Quote for the form's current content; undefined: not there yet, or the form is not complete. */
  readonly quote: Quote | undefined;
  /** Returns an unused quote that is valid long enough. Throws errors of the node. */
  take(usedId: string | null): Promise<Quote>;
}

/** The price of the call, asked for by itself whenever the form is complete and typing pauses, and again before it expires. */
export function useQuote(agentId: string, values: CallValues): QuoteState {
  const queryClient = useQueryClient();
  const { task, input = {}, capability } = callBody(values, 0);
  const body = { task, input, capability };
  const key = JSON.stringify(body);
  const isSettled = useSettled(key, PAUSE_MS) === key;
  const isWhole = problemsOf(InvocationRequest, body).size === 0;
  const options = quoteQuery(agentId, key, () => client.quoteInvocation({ params: { agentId }, body }));
  const { data } = useQuery({
    ...options,
    enabled: isWhole && isSettled,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state }) => (state.data ? Math.max(1000, msLeft(state.data)) : false),
  });
  return {
    quote: data,
    take(usedId) {
      const isGood = data !== undefined && data.quoteId !== usedId && msLeft(data) > 0;
      return queryClient.fetchQuery({ ...options, staleTime: isGood ? Number.POSITIVE_INFINITY : 0 });
    },
  };
}

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
  /** True while the content of the wallet's signature is unknown. */
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

/** Opens an attempt at the quoted price; when a wallet pays, it is prepared first, and pays no more than the quote. */
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
      // Questions of the agent are shown with a form, wherever its call is.
      body: { ...callBody(values, Date.now(), most), interactive: true },
      quoteId: quote.quoteId,
      mode: values.mode,
      payer: wallet && (await payerOf(wallet, most)),
      isFree: Number(most) === 0,
    };
  };
}
