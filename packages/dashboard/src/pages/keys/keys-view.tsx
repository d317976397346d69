import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { DataTable } from '../../ui/layout/data-table.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { type ApiKey, isLiving } from './key.ts';
import { keyColumns } from './key-columns.tsx';
import { RevokeKeyDialog } from './revoke-key-dialog.tsx';
import { RollKeyDialog } from './roll-key-dialog.tsx';
import { WithdrawalKeyDialog } from './withdrawal-key-dialog.tsx';

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
              command={`curl -H 'Authorization: Bearer $AGENT_NETWORK_KEY' ${location.origin}/account`}
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
