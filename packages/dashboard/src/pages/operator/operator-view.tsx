import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { useApi } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Duration } from '../../ui/values/duration.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits } from '../../ui/values/money.tsx';
import { Note } from '../../ui/values/note.tsx';
import { AccountsCard } from './accounts-card.tsx';
import { alarmsOf } from './alarms.ts';
import { ChannelClaims } from './channel-claims.tsx';
import { InvocationLookup } from './invocation-lookup.tsx';
import { processColumns } from './process-columns.tsx';
import { queueColumns } from './queue-columns.tsx';
import { signerColumns } from './signer-columns.tsx';
import { DatabaseCard, IndexCard, ReservesCard } from './status-cards.tsx';
import { Totals } from './totals.tsx';

const LOOK_MS = 5000;

/** Status of the node, for its operator. */
export function OperatorView() {
  const isOperator = useSession().scopes.includes('operator');
  return (
    <Page title="Operator" description="Status of this node, updated every five seconds.">
      {isOperator ? (
        <>
          <Totals />
          <StatusParts />
          <InvocationLookup />
          <AccountsCard />
          <ChannelClaims />
        </>
      ) : (
        <Card>
          <EmptyState title="For operators only">
            This account has no active key with the scope <code>operator</code>.
          </EmptyState>
        </Card>
      )}
    </Page>
  );
}

function StatusParts() {
  const { data, error, refetch } = useApi('getOperatorStatus', {}, { refetchIntervalMs: LOOK_MS });
  return (
    <>
      {error && <ErrorNote title="Could not load the status" error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-64 w-full" />}
      {data && <StatusCards status={data} />}
    </>
  );
}

const StatusCards = ({ status }: { status: OperatorStatus }) => (
  <>
    <Alarms status={status} />
    <Settlements settlements={status.settlements} />
    <Card title="Processes" isFlush>
      <DataTable
        label="Processes of the node"
        columns={processColumns(status.asOf)}
        rows={status.processes}
        rowId={({ processId }) => processId}
        empty={<EmptyState title="No process is reporting" />}
      />
    </Card>
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title="Queues" isFlush>
        <DataTable
          label="Queued work"
          columns={queueColumns}
          rows={status.queues}
          rowId={({ kind }) => kind}
          empty={<EmptyState title="There are no queues" />}
        />
      </Card>
      <div className="min-w-0 space-y-5">
        <ReservesCard reserves={status.reserves} />
        <IndexCard index={status.index} />
        <DatabaseCard database={status.database} />
      </div>
    </div>
    <Card title="Gas by signer key" isFlush>
      <DataTable
        label="Signer keys"
        columns={signerColumns}
        rows={status.signers}
        rowId={({ address, role }) => `${role} ${address}`}
        empty={<EmptyState title="No signer keys" />}
      />
    </Card>
  </>
);

function Alarms({ status }: { status: OperatorStatus }) {
  const alarms = alarmsOf(status);
  if (alarms.length === 0) return <Note tone="good">Nothing needs attention.</Note>;
  return (
    <ul aria-label="Alarms" className="space-y-2">
      {alarms.map(({ tone, text }) => (
        <li key={text}>
          <Note tone={tone}>{text}</Note>
        </li>
      ))}
    </ul>
  );
}

const toneOf = (isAlarming: boolean) => (isAlarming ? 'text-bad' : undefined);

const Settlements = ({ settlements: { inFlight, unknown, lost, oldestS } }: Pick<OperatorStatus, 'settlements'>) => (
  <Stats>
    <Stat label="Settlements in flight" value={groupDigits(String(inFlight))} />
    <Stat label="Outcome unknown" value={<span className={toneOf(unknown > 0)}>{groupDigits(String(unknown))}</span>} />
    <Stat
      label="Lost to reorganisations"
      value={<span className={toneOf(lost > 0)}>{groupDigits(String(lost))}</span>}
    />
    <Stat label="Oldest in flight" value={<Duration value={oldestS === null ? null : oldestS * 1000} />} />
  </Stats>
);
