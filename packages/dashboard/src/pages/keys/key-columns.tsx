import { IconButton } from '../../ui/controls/button.tsx';
import { Menu } from '../../ui/controls/menu.tsx';
import type { Column } from '../../ui/layout/data-table.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { TimeAgo } from '../../ui/values/time-ago.tsx';
import { type ApiKey, isLiving, keyState, limitsText } from './key.ts';

interface KeyActions {
  /** Rolling a key takes a session with all of its scopes; withdrawal keys are signed for anew instead. */
  readonly mayRoll: (key: ApiKey) => boolean;
  readonly onRoll: (key: ApiKey) => void;
  readonly onRevoke: (key: ApiKey) => void;
}

const KeyName = ({ apiKey }: { apiKey: ApiKey }) => (
  <div className="min-w-40">
    <div className="font-medium wrap-anywhere">{apiKey.name}</div>
    <div className="font-mono text-[13px] text-muted">{apiKey.start}…</div>
  </div>
);

const Scopes = ({ scopes }: { scopes: ApiKey['scopes'] }) => (
  <div className="flex max-w-72 min-w-40 flex-wrap gap-1">
    {scopes.map((scope) => (
      <Badge key={scope}>{scope}</Badge>
    ))}
  </div>
);

const KeyMenu = ({ apiKey, mayRoll, onRoll, onRevoke }: KeyActions & { apiKey: ApiKey }) => (
  <Menu
    trigger={<IconButton size="sm" icon="more" label={`Actions for ${apiKey.name}`} />}
    items={[
      ...(mayRoll(apiKey) ? [{ label: 'Roll', icon: 'refresh' as const, onSelect: () => onRoll(apiKey) }] : []),
      { label: 'Revoke', icon: 'trash', isDanger: true, onSelect: () => onRevoke(apiKey) },
    ]}
  />
);

export const keyColumns = (actions: KeyActions): readonly Column<ApiKey>[] => [
  { id: 'name', header: 'Name', cell: (apiKey) => <KeyName apiKey={apiKey} /> },
  { id: 'state', header: 'State', cell: (apiKey) => <Status value={keyState(apiKey, Date.now())} /> },
  { id: 'scopes', header: 'Scopes', cell: ({ scopes }) => <Scopes scopes={scopes} /> },
  {
    id: 'limits',
    header: 'Limits (USDC)',
    cell: (apiKey) => limitsText(apiKey) ?? <span className="text-muted">none</span>,
  },
  { id: 'lastUsed', header: 'Last used', cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} none="never" /> },
  { id: 'expires', header: 'Expires', cell: ({ expiresAt }) => <TimeAgo at={expiresAt} none="never" /> },
  { id: 'created', header: 'Created', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  {
    id: 'actions',
    header: 'Actions',
    hidesHeader: true,
    align: 'right',
    cell: (apiKey) => (isLiving(apiKey, Date.now()) ? <KeyMenu apiKey={apiKey} {...actions} /> : null),
  },
];
