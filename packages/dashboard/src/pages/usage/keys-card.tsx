import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { Meter } from '../../ui/chart/meter.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';

type ListedKey = DataOf<Api['listApiKeys']>['keys'][number];
type KeyInUse = ListedKey & { readonly use: NonNullable<ListedKey['use']> };

const isInUse = (key: ListedKey): key is KeyInUse => key.use !== null;

/** Spending limit and today's spending of each active key. */
export function KeysCard() {
  const { data, error, refetch } = useApi('listApiKeys');
  const keys = data?.keys.filter(isInUse);
  return (
    <Card
      title="By key"
      isFlush
      actions={
        <Link to="/keys" className={linkClass}>
          All keys
        </Link>
      }
    >
      {!keys && (
        <div className="p-4">
          <Waiting error={error} onRetry={() => void refetch()} height="h-16" />
        </div>
      )}
      {keys?.length === 0 && <EmptyState title="No active keys">Each key can have its own spending limit.</EmptyState>}
      {keys && keys.length > 0 && (
        <ul aria-label="Keys">
          {keys.map((apiKey) => (
            <KeyUse key={apiKey.keyId} apiKey={apiKey} />
          ))}
        </ul>
      )}
    </Card>
  );
}

const KeyUse = ({ apiKey: { name, start, lastUsedAt, limits, use } }: { apiKey: KeyInUse }) => (
  <li className="grid gap-x-8 gap-y-3 border-b border-line p-4 last:border-b-0 lg:grid-cols-[14rem_1fr]">
    <div className="min-w-0">
      <div className="font-medium wrap-anywhere">{name}</div>
      <div className="font-mono text-[13px] text-muted">{start}…</div>
      <div className="text-[13px] text-muted">
        last used <TimeAgo at={lastUsedAt} none="never" />
      </div>
    </div>
    <div className="min-w-0">
      <Spending limits={limits} spentToday={use.spentToday} />
    </div>
  </li>
);

/** Spending of a key. Numbers serve only for the width of the bar; the text is the API's. */
const Spending = ({ limits, spentToday }: { limits: KeyInUse['limits']; spentToday: string | null }) => {
  const { perCall, perDay, allowedAgents } = limits;
  const others = [
    perCall === null ? null : `up to ${perCall} USDC per call`,
    allowedAgents === null ? null : `only ${allowedAgents.length} ${allowedAgents.length === 1 ? 'agent' : 'agents'}`,
  ].filter((text) => text !== null);
  const hint = others.join(', ');
  if (perDay === null || spentToday === null)
    return (
      <div>
        <div className="flex flex-wrap items-baseline justify-between gap-x-4">
          <span>No daily limit</span>
        </div>
        <p className="mt-1 text-[13px] text-muted">
          Spending is counted by key once a key has a daily limit. Its calls are in the totals above.
        </p>
        {hint && <p className="mt-1 text-[13px] text-muted">{hint}</p>}
      </div>
    );
  return (
    <Meter
      label="Spent today"
      used={Number(spentToday)}
      limit={Number(perDay)}
      text={`${spentToday} of ${perDay} USDC`}
      hint={hint}
    />
  );
};
