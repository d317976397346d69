import type { AccountItem } from '@agent-network/contracts/network/operator-accounts';
import { type FormEvent, useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { AccountPanel } from './account-panel.tsx';

/** The accounts of the node: found by id or address, each with its plan and status. */
export function AccountsCard() {
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Card title="Accounts">
      <SearchForm
        onSearch={(text) => {
          setSearch(text);
          setChosen(null);
        }}
      />
      <AccountList key={search} search={search} chosen={chosen} onChoose={setChosen} />
      {chosen && <AccountPanel key={chosen} accountId={chosen} />}
    </Card>
  );
}

function SearchForm({ onSearch }: { onSearch: (text: string) => void }) {
  const [text, setText] = useState('');
  const search = (event: FormEvent) => {
    event.preventDefault();
    onSearch(text.trim());
  };
  return (
    <form onSubmit={search} className="mb-4 max-w-xl space-y-3">
      <Field label="Find an account" hint="Account, agent or key ID, or the first characters of a wallet address.">
        <TextInput value={text} onChange={setText} autoComplete="off" spellCheck={false} maxLength={100} />
      </Field>
      <Button type="submit">Find accounts</Button>
    </form>
  );
}

interface AccountListProps {
  readonly search: string;
  readonly chosen: string | null;
  readonly onChoose: (accountId: string) => void;
}

const PAGE = '10';

function AccountList({ search, chosen, onChoose }: AccountListProps) {
  const [cursor, setCursor] = useState<string | null>(null);
  const query = { limit: PAGE, ...(search ? { search } : {}), ...(cursor ? { cursor } : {}) };
  const { data, error, refetch } = useApi('listOperatorAccounts', { query });
  if (error) return <ErrorNote title="Could not load the accounts" error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-32 w-full" />;
  if (data.accounts.length === 0) return <p className="text-muted">No account matches.</p>;
  return (
    <>
      <ul aria-label="Accounts" className="divide-y divide-line">
        {data.accounts.map((account) => (
          <li key={account.accountId}>
            <AccountRow account={account} isChosen={account.accountId === chosen} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      <div className="mt-3 flex gap-2">
        {cursor && (
          <Button size="sm" onClick={() => setCursor(null)}>
            Newest accounts
          </Button>
        )}
        {data.nextCursor && (
          <Button size="sm" onClick={() => setCursor(data.nextCursor)}>
            Older accounts
          </Button>
        )}
      </div>
    </>
  );
}

const AccountRow = ({
  account: { accountId, address, plan, suspension },
  isChosen,
  onChoose,
}: {
  account: AccountItem;
  isChosen: boolean;
  onChoose: (accountId: string) => void;
}) => (
  <button
    type="button"
    aria-pressed={isChosen}
    onClick={() => onChoose(accountId)}
    className="flex w-full flex-wrap items-center gap-2 py-2 text-left hover:bg-sunken"
  >
    <span className="font-mono text-[13px] wrap-anywhere">{address}</span>
    <Badge>{plan}</Badge>
    {suspension && <Badge tone="bad">suspended</Badge>}
  </button>
);
