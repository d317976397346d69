import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { parseUsdc } from '@agent-network/contracts/money';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { useForm } from '../../forms/use-form.ts';
import { Card } from '../../ui/layout/card.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Warning } from '../../ui/values/note.tsx';
import { AgentProgress } from '../invocations/agent-progress.tsx';
import { samplesOf } from '../invocations/call-samples.ts';
import { isOpen } from '../invocations/invocation.ts';
import { InvocationActions } from '../invocations/invocation-actions.tsx';
import { InvocationFacts } from '../invocations/invocation-facts.tsx';
import { QuestionCard } from '../invocations/question-card.tsx';
import { ResultBlock } from '../invocations/result-block.tsx';
import { TimelineCard } from '../invocations/timeline-card.tsx';
import { AttemptError } from './attempt-error.tsx';
import { CallFields } from './call-form.tsx';
import { type CallValues, callBody, emptyCall } from './call-values.ts';
import { LiveAnswer } from './live-answer.tsx';
import { RunPanel } from './run-panel.tsx';
import { type Attempting, useAttempt } from './use-attempt.ts';
import { type Payment, useOpenAttempt, usePayment, useQuote } from './use-payment.ts';

type TriedAgent = AgentDetail & { readonly types?: AgentTypes | undefined };

interface TryItProps {
  readonly agent: TriedAgent;
  /** To begin with. */
  readonly task?: string | undefined;
}

/** Calls the agent: the price updates while the call is written, one button runs it, and the result is shown beside it. */
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

/** State of the form: its price, its means of payment, and its last call. */
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
  <Warning>This agent is offline. Calls are refused unless they may fall back to a similar agent.</Warning>
);

const RUNNING_MS = 1000;

interface AttemptPanelProps {
  readonly requestId: string;
  readonly run: Attempting;
}

/** The last call: its stream, result, status and cost. */
function AttemptPanel({ requestId, run }: AttemptPanelProps) {
  const call = { params: { requestId }, query: { detail: 'true' as const } };
  const { data: record, error, refetch } = useApi('getInvocation', call);
  useApi('getInvocation', call, { enabled: record !== undefined && isOpen(record), refetchIntervalMs: RUNNING_MS });
  const isStream = run.attempt?.mode === 'stream';
  if (!record) return <Waiting error={error} onRetry={() => void refetch()} height="h-40" />;
  return (
    <>
      <QuestionCard record={record} />
      <Card
        title={
          <span className="inline-flex items-center gap-2">
            Answer <Status value={record.status} />
          </span>
        }
        actions={isOpen(record) && <InvocationActions record={record} />}
      >
        <div className="space-y-4">
          {record.error && (
            <ErrorNote title={`Failed: ${record.error.code.replaceAll('_', ' ')}`} error={record.error.message} />
          )}
          {isStream && <LiveAnswer events={run.events} isLive={run.isBusy} />}
          {record.status === 'completed' && <ResultBlock record={record} />}
          <AgentProgress record={record} />
          {isOpen(record) && !isStream && !record.progress && (
            <p className="text-muted">
              {record.status === 'input_required' ? 'The agent waits for your answer.' : 'The agent is working…'}
            </p>
          )}
          <Link to="/invocations/$requestId" params={{ requestId }} className={linkClass}>
            Open this invocation
          </Link>
        </div>
      </Card>
      <TimelineCard record={record} />
      <Card title="Payment">
        <InvocationFacts record={record} />
      </Card>
    </>
  );
}

interface CallCodeProps {
  readonly agentId: string;
  readonly values: CallValues;
  readonly price: string;
  readonly isQuoted: boolean;
  readonly payment: Payment;
}

/** The call of the form as code. */
const CallCode = ({ agentId, values, price, isQuoted, payment: { choice, channel } }: CallCodeProps) => (
  <div className="min-w-0">
    <Card title="Code for this call">
      <CodeBlock
        label="Code for this call"
        samples={samplesOf(
          {
            agentId,
            body: callBody(values, Date.now(), isQuoted ? price : undefined),
            mode: values.mode,
            ...(choice
              ? { byWallet: { maxPerCall: price, ...(channel.wallet ? { deposit: channel.deposit } : {}) } }
              : {}),
          },
          location.origin,
        )}
      />
    </Card>
  </div>
);
