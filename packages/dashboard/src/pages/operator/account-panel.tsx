import { Plan, plans } from '@agent-network/contracts/access/access';
import type { OperatorAccount } from '@agent-network/contracts/network/operator-accounts';
import { useState } from 'react';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits, Money, usedText } from '../../ui/values/money.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';

/** One account: plan, limits, use, money and history, and the changes open to an operator. */
export function AccountPanel({ accountId }: { accountId: string }) {
  const { data, error, refetch } = useApi('getOperatorAccount', { params: { accountId } });
  const note = error && <ErrorNote title="Could not load the account" error={error} onRetry={() => void refetch()} />;
  if (!data) return note ?? <Skeleton className="mt-4 h-48 w-full" />;
  return (
    <>
      {note}
      <Facts account={data} />
      <ChangeForm key={`${data.plan} ${data.suspension?.at}`} account={data} />
      <History changes={data.changes} />
    </>
  );
}

const mib = (bytes: number) => Math.ceil(bytes / 1_048_576);

const Facts = ({ account }: { account: OperatorAccount }) => (
  <dl>
    <FactRow label="Account ID">
      <Copyable label="account id" text={account.accountId} />
    </FactRow>
    <FactRow label="Wallet">
      <Copyable label="wallet address" text={account.address} />
    </FactRow>
    <FactRow label="Status">
      <bdi className="wrap-anywhere whitespace-normal">
        {account.suspension ? `Suspended: ${account.suspension.reason}` : 'Active'}
      </bdi>
    </FactRow>
    <FactRow label="Requests this hour">{usedText(account.limits.api.used, account.limits.api.limit)}</FactRow>
    <FactRow label="Invocations this hour">
      {usedText(account.limits.invocations.used, account.limits.invocations.limit)}
    </FactRow>
    <FactRow label="Keys">{usedText(account.keys.used, account.keys.most)}</FactRow>
    <FactRow label="Agents">{usedText(account.agents.used, account.agents.most)}</FactRow>
    <FactRow label="Stored (MiB)">{usedText(mib(account.storage.usedBytes), mib(account.storage.mostBytes))}</FactRow>
    <FactRow label="Balance">
      <Money amount={account.available} />
    </FactRow>
    <FactRow label="Calls">
      {groupDigits(account.calls)}, spent <Money amount={account.spent} />
    </FactRow>
    <FactRow label="Earned">
      <Money amount={account.earned} />
    </FactRow>
    <FactRow label="Last seen">
      <ExactTime at={account.lastSeenAt} />
    </FactRow>
    <FactRow label="Opened">
      <ExactTime at={account.createdAt} />
    </FactRow>
  </dl>
);

function ChangeForm({ account: { accountId, plan, suspension } }: { account: OperatorAccount }) {
  const [reason, setReason] = useState('');
  const [wanted, setWanted] = useState<Plan>(plan);
  const after = (text: string) => ({
    invalidates: ['listOperatorAccounts', 'getOperatorAccount'] as const,
    onSuccess: () => void toast(text),
  });
  const setPlan = useApiMutation('setAccountPlan', after('Plan set'));
  const suspend = useApiMutation('suspendAccount', after('Account suspended'));
  const resume = useApiMutation('resumeAccount', after('Account resumed'));
  const change = suspension ? resume : suspend;
  const isBusy = setPlan.isPending || change.isPending;
  const isReady = reason.trim() !== '';
  const failure = setPlan.error ?? change.error;
  return (
    <div className="mt-4 space-y-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Plan" hint="How much the account can do. Prices stay the same.">
          <Select
            value={wanted}
            onChange={(value) => setWanted(Plan.parse(value))}
            options={plans.map((value) => ({ value, label: value }))}
          />
        </Field>
        <Field label="Reason" isRequired hint="Kept on record. The owner of a suspended account can read it.">
          <TextInput value={reason} onChange={setReason} maxLength={500} />
        </Field>
      </div>
      {failure && <ErrorNote title="Could not change the account" error={failure} />}
      <div className="flex flex-wrap gap-2">
        <Button
          disabled={!isReady || wanted === plan}
          isBusy={isBusy}
          onClick={() => setPlan.mutate({ params: { accountId }, body: { plan: wanted, reason } })}
        >
          Set plan
        </Button>
        <Button
          variant={suspension ? 'secondary' : 'danger'}
          disabled={!isReady}
          isBusy={isBusy}
          onClick={() => change.mutate({ params: { accountId }, body: { reason } })}
        >
          {suspension ? 'Resume account' : 'Suspend account'}
        </Button>
      </div>
      <p className="text-muted">
        A suspended account can't start anything new. Its running calls finish, and it can still withdraw its money.
      </p>
    </div>
  );
}

const History = ({ changes }: Pick<OperatorAccount, 'changes'>) =>
  changes.length === 0 ? null : (
    <ul aria-label="Changes by operators" className="mt-4 space-y-1">
      {changes.map(({ kind, plan, reason, at }) => (
        <li key={at} className="wrap-anywhere">
          <ExactTime at={at} /> · {kind === 'plan' ? `plan ${plan}` : kind} · <bdi>{reason}</bdi>
        </li>
      ))}
    </ul>
  );
