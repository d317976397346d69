import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { useState } from 'react';
import { client } from '../../app/client.ts';
import { useSessionInfo } from '../../app/session.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { channelPayer } from '../../wallet/channel-payer.ts';
import { type InjectedWallet, useInjectedWallets } from '../../wallet/injected-wallets.ts';
import { type WalletPayer, walletPayer } from '../../wallet/wallet-payer.ts';
import { samplesOf } from '../invocations/call-samples.ts';
import type { Attempt } from './attempt.ts';
import { AttemptError } from './attempt-error.tsx';
import { AttemptPanel } from './attempt-panel.tsx';
import { CallFields } from './call-form.tsx';
import { type CallValues, callBody, emptyCall } from './call-values.ts';
import { ChannelPanel, useWalletChannel } from './channel-panel.tsx';
import { planOf, usualDeposit } from './channel-plan.ts';
import { PayChoice, TREASURY, walletChoice } from './pay-choice.tsx';
import { QuotePanel } from './quote-panel.tsx';
import { useAttempt } from './use-attempt.ts';

interface Quoted {
  readonly values: CallValues;
  readonly quote: Quote;
}

/** Calls the agent: first what it would cost, then the call, and what comes of it. */
export function TryIt({ agent }: { agent: AgentDetail & { readonly types?: AgentTypes | undefined } }) {
  const [quoted, setQuoted] = useState<Quoted | null>(null);
  const [payer, setPayer] = useState(TREASURY);
  const run = useAttempt();
  const openAttempt = useOpenAttempt(agent.id);
  const channel = useChannelChoice(payer, run.requestId);
  const form = useForm({
    initial: emptyCall,
    schema: InvocationRequest,
    toBody: (values) => callBody(values, Date.now()),
    async onSubmit({ task, input = {}, capability }, values) {
      const quote = await client.quoteInvocation({ params: { agentId: agent.id }, body: { task, input, capability } });
      run.reset();
      channel.setDeposit(usualDeposit(quote.estimatedCost));
      setQuoted({ values, quote });
    },
  });
  const isFree = quoted !== null && Number(quoted.quote.estimatedCost) === 0;
  const isUsed = run.requestId !== null || run.isUnclear;
  const maxPerCall = quoted?.quote.estimatedCost ?? agent.rates.perRequest;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2 lg:grid-rows-[auto_1fr]">
      <div className="min-w-0">
        <Card title="Call">
          <form onSubmit={form.submit} noValidate className="space-y-4">
            {!agent.online && <Offline />}
            <CallFields form={form} types={agent.types} />
            <ErrorNote error={form.failure} />
            <Button type="submit" isBusy={form.isBusy} disabled={run.isBusy || run.isUnclear} className="w-full">
              {quoted ? 'Get a new quote' : 'Get a quote'}
            </Button>
          </form>
        </Card>
      </div>
      <div className="min-w-0 space-y-5 lg:row-span-2">
        {!quoted && (
          <p className="rounded-lg border border-dashed border-line p-6 text-center text-muted">
            A quote is the price of the call. It is valid for 15 minutes and without obligation.
          </p>
        )}
        {quoted && !isUsed && (
          <Card title="Quote">
            <QuotePanel
              quote={quoted.quote}
              isStale={quoted.values !== form.values}
              isBusy={run.isBusy}
              isFree={isFree}
              onRun={() => run.begin(() => openAttempt(quoted, isFree ? TREASURY : payer, channel))}
            >
              {!isFree && <PayChoice value={payer} onChange={setPayer} />}
              {!isFree && channel.wallet && (
                <ChannelPanel
                  wallet={channel.wallet}
                  price={quoted.quote.estimatedCost}
                  channel={channel.found}
                  error={channel.error}
                  deposit={channel.deposit}
                  onDeposit={channel.setDeposit}
                />
              )}
            </QuotePanel>
          </Card>
        )}
        {Boolean(run.error) && run.requestId === null && (
          <AttemptError
            error={run.error}
            isUnclear={run.isUnclear}
            isBusy={run.isBusy}
            onAgain={run.again}
            onGiveUp={() => {
              run.reset();
              setQuoted(null);
            }}
          />
        )}
        {run.requestId !== null && <AttemptPanel requestId={run.requestId} run={run} />}
      </div>
      <div className="min-w-0">
        <Card title="Code for this call">
          <CodeBlock
            label="Code for this call"
            samples={samplesOf(
              {
                agentId: agent.id,
                body: callBody(form.values, Date.now(), quoted?.quote.estimatedCost),
                mode: form.values.mode,
                ...(payer !== TREASURY && !isFree
                  ? { byWallet: { maxPerCall, ...(channel.wallet ? { deposit: channel.deposit } : {}) } }
                  : {}),
              },
              location.origin,
            )}
          />
        </Card>
      </div>
    </div>
  );
}

const Offline = () => (
  <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
    This agent is offline. Calls are refused unless they may fall back to a similar agent.
  </p>
);

type ChannelChoice = ReturnType<typeof useChannelChoice>;

/** The wallet whose channel pays, its channel as far as this browser knows, and the deposit that is asked for. */
function useChannelChoice(payer: string, calls: unknown) {
  const wallets = useInjectedWallets();
  const choice = walletChoice(payer);
  const wallet = choice?.isByChannel ? wallets.find(({ id }) => id === choice.walletId) : undefined;
  const { data: found, error } = useWalletChannel(wallet, calls);
  const [deposit, setDeposit] = useState('');
  return { wallet, found, error, deposit, setDeposit };
}

/** Makes an attempt of what was quoted; when a wallet pays, it is readied first, and pays no more than the quote. */
function useOpenAttempt(agentId: string) {
  const { chainId, usdc } = useSessionInfo();
  const wallets = useInjectedWallets();
  return async ({ values, quote }: Quoted, paidBy: string, channel: ChannelChoice): Promise<Attempt> => {
    const maxPerCall = quote.estimatedCost;
    const choice = walletChoice(paidBy);
    const wallet = choice && wallets.find(({ id }) => id === choice.walletId);
    const paidIn = { chainId, usdc };
    const payerOf = ({ provider }: InjectedWallet): Promise<WalletPayer> => {
      if (!choice?.isByChannel) return walletPayer(provider, paidIn, maxPerCall);
      const { deposit, found = null } = channel;
      const { needsDeposit, problem } = planOf(maxPerCall, deposit, found);
      if (problem) throw new Error(`The deposit ${problem}. Nothing was signed.`);
      return channelPayer(provider, paidIn, { most: maxPerCall, deposit: deposit.trim(), needsDeposit });
    };
    if (wallet === undefined) throw new Error('The wallet is no longer available in this browser.');
    return {
      key: crypto.randomUUID(),
      agentId,
      body: callBody(values, Date.now(), maxPerCall),
      quoteId: quote.quoteId,
      mode: values.mode,
      payer: wallet && (await payerOf(wallet)),
      isFree: Number(maxPerCall) === 0,
    };
  };
}
