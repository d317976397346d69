import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { InvocationTrace } from './invocation-trace.tsx';

/** Refunds and webhook attempts follow the end by seconds. */
const LOOK_MS = 5000;

/** A field for the id of any invocation, with the invocation below it and its id in the address. */
export function InvocationLookup() {
  const { invocation } = useSearch({ from: '/shell/operator' });
  return (
    <div className="space-y-5">
      <Card title="Find a call">
        <LookupForm key={invocation} shown={invocation ?? ''} />
      </Card>
      {invocation && <Found id={invocation} />}
    </div>
  );
}

function LookupForm({ shown }: { shown: string }) {
  const navigate = useNavigate({ from: '/operator' });
  const [id, setId] = useState(shown);
  const lookUp = (event: FormEvent) => {
    event.preventDefault();
    const invocation = id.trim();
    void navigate({ search: { tab: 'calls', ...(invocation ? { invocation } : {}) } });
  };
  return (
    <form onSubmit={lookUp} className="max-w-xl space-y-3">
      <Field
        label="Invocation ID"
        hint="Of any account. Shows why it ended or was refunded and its payments, but not its input or result."
      >
        <TextInput
          value={id}
          onChange={setId}
          placeholder="req_…"
          autoComplete="off"
          spellCheck={false}
          maxLength={64}
          className="font-mono"
        />
      </Field>
      <Button type="submit">Look up</Button>
    </form>
  );
}

function Found({ id }: { id: string }) {
  const { data, error, refetch } = useApi('getOperatorInvocation', { params: { id } }, { refetchIntervalMs: LOOK_MS });
  if (data) return <InvocationTrace trace={data} />;
  if (error) return <ErrorNote title="No invocation to show" error={error} onRetry={() => void refetch()} />;
  return <Skeleton className="h-64 w-full" />;
}
