import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { parseUsdc } from '@agent-network/contracts/money';
import { useId, useState } from 'react';
import { useForm } from '../../forms/use-form.ts';
import { Card } from '../../ui/layout/card.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { AttemptError } from './attempt-error.tsx';
import { AttemptPanel } from './attempt-panel.tsx';
import { CallCode } from './call-code.tsx';
import { CallFields } from './call-form.tsx';
import { callBody, emptyCall } from './call-values.ts';
import { RunPanel } from './run-panel.tsx';
import { useAttempt } from './use-attempt.ts';
import { useOpenAttempt, usePayment } from './use-payment.ts';
import { useQuote } from './use-quote.ts';

type TriedAgent = AgentDetail & { readonly types?: AgentTypes | undefined };

interface TryItProps {
  readonly agent: TriedAgent;
  /** To begin with. */
  readonly task?: string | undefined;
}

/** Calls the agent: the price makes itself while the call is written, one button runs it, and what comes of it is beside it. */
export function TryIt({ agent, task = '' }: TryItProps) {
  const formId = useId();
  const { form, run, price, quote, hasRisen, payment } = useTry(agent, task);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2 lg:grid-rows-[auto_1fr]">
      <div className="min-w-0">
        <Card title="Call">
          <form
            id={formId}
            onSubmit={form.submit}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
            }}
            noValidate
            className="space-y-4"
          >
            {!agent.online && <Offline />}
            <CallFields form={form} types={agent.types} />
            <ErrorNote error={form.failure} />
          </form>
        </Card>
      </div>
      <div className="min-w-0 space-y-5 lg:row-span-2">
        <RunPanel
          formId={formId}
          price={price}
          quote={quote}
          hasRisen={hasRisen}
          payment={payment}
          isBusy={form.isBusy || run.isBusy}
          isDisabled={run.isUnclear || payment.isUnknown}
        />
        {Boolean(run.error) && run.requestId === null && (
          <AttemptError
            error={run.error}
            isUnclear={run.isUnclear}
            isBusy={run.isBusy}
            onAgain={run.again}
            onGiveUp={run.reset}
          />
        )}
        {run.requestId !== null && <AttemptPanel requestId={run.requestId} run={run} />}
      </div>
      <CallCode
        agentId={agent.id}
        values={form.values}
        price={price}
        isQuoted={quote !== undefined}
        payment={payment}
      />
    </div>
  );
}

/** The form, the price of what it says, who pays it, and the call that was made of it. */
function useTry(agent: TriedAgent, task: string) {
  const run = useAttempt();
  const [hasRisen, setHasRisen] = useState(false);
  const form = useForm({
    initial: { ...emptyCall, task },
    schema: InvocationRequest,
    toBody: (values) => callBody(values, Date.now()),
    async onSubmit(_body, values) {
      // The keyboard submits past a disabled button: another call now could be paid beside the one whose outcome is unknown.
      if (run.isBusy || run.isUnclear) return;
      const taken = await take(run.requestId === null ? null : (run.attempt?.quoteId ?? null));
      const isDearer = parseUsdc(taken.estimatedCost) > parseUsdc(price);
      setHasRisen(isDearer);
      if (isDearer) return;
      run.reset();
      run.begin(() => open(values, taken));
    },
  });
  const { quote, take } = useQuote(agent.id, form.values);
  const price = quote?.estimatedCost ?? agent.rates.perRequest;
  const payment = usePayment(price, run.requestId);
  const open = useOpenAttempt(agent.id, payment);
  return { form, run, price, quote, hasRisen, payment };
}

const Offline = () => (
  <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
    This agent is offline. Calls are refused unless they may fall back to a similar agent.
  </p>
);
