import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { InvocationRequest, type RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { Link } from '@tanstack/react-router';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Textarea } from '../../ui/controls/text-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Status } from '../../ui/values/badge.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { Warning } from '../../ui/values/note.tsx';
import { ResultBlock } from '../invocations/result-block.tsx';
import { useRunAgain } from '../invocations/use-run-again.ts';
import { LackOfFunds, useSpendable } from '../payments/lack-of-funds.tsx';
import { ProveEndpoint } from './prove-endpoint.tsx';

/** Calls the agent as any caller does, and shows the result. */
export function TestTab({ agent }: { agent: OwnAgent }) {
  const { invoke, isUncertain } = useRunAgain();
  const form = useForm({
    initial: { task: 'say hello' },
    schema: InvocationRequest,
    onSubmit: (body) =>
      invoke.mutateAsync({
        params: { agentId: agent.id },
        headers: { 'x-sync': 'true', ...(isFree(agent) ? {} : { 'x-payment-method': 'treasury' }) },
        body,
      }),
  });
  const lack = useSpendable(agent.rates.perRequest).lack;
  const answer = invoke.data;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title="Test call">
        <form onSubmit={form.submit} noValidate className="space-y-3">
          <Field label="Task" error={form.error('task')} hint={<Cost agent={agent} />}>
            <Textarea
              value={form.values.task}
              onChange={(task) => form.set('task', task)}
              rows={3}
              readOnly={form.isBusy || isUncertain}
            />
          </Field>
          {!isUncertain && <LackOfFunds lack={lack} />}
          <Button
            type="submit"
            icon="play"
            variant="primary"
            isBusy={form.isBusy}
            disabled={lack !== null && !isUncertain}
          >
            {isUncertain ? 'Retry' : 'Call the agent'}
          </Button>
          <ErrorNote error={form.failure} />
          {isUncertain && (
            <Warning>
              It isn't known whether the call was made. Retrying sends the same call, so nothing is paid twice.
            </Warning>
          )}
        </form>
      </Card>
      <Card title="Response">
        <div role="status">
          {form.isBusy && <Skeleton className="h-24 w-full" />}
          {!form.isBusy && answer && 'result' in answer && <Came record={answer} />}
          {!form.isBusy && answer && !('result' in answer) && <Link {...linkTo(answer.requestId)}>Still running.</Link>}
          {!form.isBusy && !answer && <p className="text-muted">No call yet.</p>}
        </div>
      </Card>
      <Card title="Check its endpoint">
        <ProveEndpoint agent={agent} />
      </Card>
    </div>
  );
}

const isFree = ({ rates }: OwnAgent) => Number(rates.perRequest) === 0;

const Cost = ({ agent }: { agent: OwnAgent }) =>
  isFree(agent) ? (
    'Free.'
  ) : (
    <>
      Costs <Money amount={agent.rates.perRequest} /> from your treasury, which the agent earns minus the node's fee.
    </>
  );

const linkTo = (requestId: string) =>
  ({ to: '/invocations/$requestId', params: { requestId }, className: linkClass }) as const;

const Came = ({ record }: { record: RequestRecord }) => (
  <div className="space-y-3">
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Status value={record.status} />
      <Duration value={record.duration} />
      <Money amount={record.cost} />
      <Link {...linkTo(record.requestId)}>Invocation</Link>
    </div>
    {record.error ? (
      <ErrorNote title={record.error.code.replaceAll('_', ' ')} error={record.error.message} />
    ) : (
      <ResultBlock record={record} />
    )}
  </div>
);
