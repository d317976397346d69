import type { OperatorSetting } from '@agent-network/contracts/network/operator';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';

/** The settings in force of the process that answers, by subject. They are changed in its environment, with a restart. */
export function SettingsTab() {
  const [isOwnOnly, setOwnOnly] = useState(false);
  const { data, error, refetch } = useApi('getOperatorSettings');
  if (error && !data)
    return <ErrorNote title="Could not load the settings" error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-64 w-full" />;
  const shown = data.settings.filter(({ isDefault }) => !isOwnOnly || !isDefault);
  return (
    <div className="space-y-5">
      <p className="text-muted">
        Environment variables of the process that answered. To change one, set it and restart the node; secrets are
        never shown.
      </p>
      <Checkbox label="Only those that are set" isChecked={isOwnOnly} onChange={setOwnOnly} />
      {shown.length === 0 && (
        <Card>
          <EmptyState
            title={isOwnOnly ? 'Every setting has its default' : 'This process does not report its settings'}
          />
        </Card>
      )}
      {[...Map.groupBy(shown, ({ group }) => group)].map(([group, settings]) => (
        <Card key={group} title={group}>
          <dl className="divide-y divide-line">
            {settings.map((setting) => (
              <SettingRow key={setting.name} setting={setting} />
            ))}
          </dl>
        </Card>
      ))}
    </div>
  );
}

/** Markdown of the reference as plain text: without code marks, links as their names. */
const plainText = (markdown: string): string => markdown.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

const SettingRow = ({ setting: { name, value, meaning, isDefault } }: { setting: OperatorSetting }) => (
  <div className="grid gap-x-6 gap-y-1 py-3 first:pt-0 last:pb-0 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
    <dt className="min-w-0">
      <span className="font-mono text-[13px] font-medium wrap-anywhere">{name}</span>
      <p className="text-[13px] text-muted">{plainText(meaning)}</p>
    </dt>
    <dd className="min-w-0 sm:text-right">
      <span className="font-mono text-[13px] wrap-anywhere">{value === '' ? 'none' : plainText(value)}</span>{' '}
      {!isDefault && <Badge tone="accent">set</Badge>}
    </dd>
  </div>
);
