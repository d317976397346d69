import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useApiMutation } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Menu } from '../../ui/controls/menu.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Column, DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { Badge, Status } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { ExactTime, TimeAgo } from '../../ui/values/time-ago.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { type ApiKey, isLiving, keyState, limitsText } from './key.ts';
import { NewKey } from './new-key.tsx';
import { WithdrawalKeyDialog } from './withdrawal-key-dialog.tsx';

interface KeyActions {
  /** Rolling a key takes a session with all of its scopes; withdrawal keys need a new signature instead. */
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

const keyColumns = (actions: KeyActions): readonly Column<ApiKey>[] => [
  { header: 'Name', cell: (apiKey) => <KeyName apiKey={apiKey} /> },
  { header: 'State', phone: 'top', cell: (apiKey) => <Status value={keyState(apiKey, Date.now())} /> },
  { header: 'Scopes', phone: 'bare', cell: ({ scopes }) => <Scopes scopes={scopes} /> },
  { header: 'Limits (USDC)', cell: (apiKey) => limitsText(apiKey) ?? <span className="text-muted">none</span> },
  { header: 'Last used', cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} none="never" /> },
  { header: 'Expires', cell: ({ expiresAt }) => <TimeAgo at={expiresAt} none="never" /> },
  { header: 'Created', phone: 'none', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  {
    header: 'Actions',
    hidesHeader: true,
    align: 'right',
    phone: 'top',
    cell: (apiKey) => (isLiving(apiKey, Date.now()) ? <KeyMenu apiKey={apiKey} {...actions} /> : null),
  },
];

type Doing = { readonly what: 'roll' | 'revoke'; readonly apiKey: ApiKey } | null;

/** The keys of the account: made, rolled and revoked here. */
export function KeysView() {
  const session = useSession();
  const { data, error, refetch } = useApi('listApiKeys');
  const [doing, setDoing] = useState<Doing>(null);
  const [showsEnded, setShowsEnded] = useState(false);
  const [columns] = useState(() =>
    keyColumns({
      mayRoll: ({ scopes }) => scopes.every((scope) => session.scopes.includes(scope)),
      onRoll: (apiKey) => setDoing({ what: 'roll', apiKey }),
      onRevoke: (apiKey) => setDoing({ what: 'revoke', apiKey }),
    }),
  );
  const { new: isNew } = useSearch({ from: '/shell/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const create = (what: 'true' | 'withdrawal' | null) => void navigate({ search: what === null ? {} : { new: what } });
  const keys = data?.keys;
  const shown = keys?.filter((key) => showsEnded || isLiving(key, Date.now()));
  const close = () => setDoing(null);
  return (
    <Page
      title="API keys"
      description="Programs call the API with a key. Each key has its own scopes, limits and expiry."
      actions={
        <>
          {!session.isLocal && (
            <Button icon="wallet" onClick={() => create('withdrawal')}>
              Create withdrawal key
            </Button>
          )}
          <Button variant="primary" icon="plus" onClick={() => create('true')}>
            Create key
          </Button>
        </>
      }
    >
      <Card
        title="Keys"
        isFlush
        actions={<Checkbox label="Show expired and revoked keys" isChecked={showsEnded} onChange={setShowsEnded} />}
      >
        <DataTable
          label="API keys"
          columns={columns}
          rows={shown}
          rowId={({ keyId }) => keyId}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <EmptyState
              title="No keys yet"
              command={`curl -H "Authorization: Bearer $AGENT_NETWORK_KEY" ${location.origin}/account`}
            >
              Create one, then call the API with it.
            </EmptyState>
          }
        />
      </Card>
      {isNew === 'true' && <CreateKeyDialog onClose={() => create(null)} />}
      {isNew === 'withdrawal' && <WithdrawalKeyDialog onClose={() => create(null)} />}
      {doing?.what === 'roll' && <RollKeyDialog apiKey={doing.apiKey} onClose={close} />}
      {doing?.what === 'revoke' && <RevokeKeyDialog apiKey={doing.apiKey} onClose={close} />}
    </Page>
  );
}

function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const revoke = useApiMutation('revokeApiKey', {
    invalidates: ['listApiKeys'],
    onSuccess() {
      toast(`Revoked ${apiKey.name}`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Revoke ${apiKey.name}?`}
      action="Revoke key"
      name={apiKey.name}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate({ params: { keyId: apiKey.keyId } })}
    >
      Calls with it are refused immediately and permanently. To replace a key that is in use, roll it instead.
    </ConfirmDialog>
  );
}

const overlaps = [
  { value: '0', label: 'No overlap: the old key expires now' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];

/** Makes a key of the same rights; the old one stays good for a while, so that nothing stops. */
function RollKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const [overlapS, setOverlapS] = useState('86400');
  const roll = useApiMutation('rollApiKey', { invalidates: ['listApiKeys'] });
  if (roll.data)
    return (
      <Dialog isOpen isModalOnly onClose={onClose} title={`${apiKey.name} was rolled`}>
        <NewKey secret={roll.data.apiKey} onDone={onClose}>
          The old key expires at <ExactTime at={roll.data.oldExpiresAt} />.
        </NewKey>
      </Dialog>
    );
  return (
    <Dialog
      isOpen
      // The answer has the secret, which is shown once.
      isModalOnly={roll.isPending}
      onClose={onClose}
      title={`Roll ${apiKey.name}`}
      description="You get a new key with the same scopes, limits and lifetime. Both work during the overlap."
    >
      <Field label="Keep the old key valid for">
        <Select value={overlapS} onChange={setOverlapS} options={overlaps} />
      </Field>
      <div className="mt-4 empty:hidden">
        <ErrorNote error={roll.error} />
      </div>
      <Actions>
        <Button onClick={onClose} disabled={roll.isPending}>
          Cancel
        </Button>
        <Button
          variant="primary"
          isBusy={roll.isPending}
          onClick={() => roll.mutate({ params: { keyId: apiKey.keyId }, body: { overlapS: Number(overlapS) } })}
        >
          Roll key
        </Button>
      </Actions>
    </Dialog>
  );
}
