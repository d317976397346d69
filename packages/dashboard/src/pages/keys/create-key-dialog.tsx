import { accessEndpoints } from '@agent-network/contracts/access/access';
import { scopes as allScopes, defaultScopes, type Scope } from '@agent-network/contracts/access/scopes';
import type { Api } from '@agent-network/contracts/api';
import type { Call } from '@agent-network/contracts/endpoint';
import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { errorText, Field, Fieldset } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { NumberInput, Textarea, TextInput } from '../../ui/controls/text-input.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { scopeTexts } from './key.ts';
import { NewKey } from './new-key.tsx';

/** Asks for the properties of a key, then shows its secret once. */
export function CreateKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<{ name: string; apiKey: string } | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  return made ? (
    <Dialog isOpen isModalOnly onClose={onClose} title={`API key created: ${made.name}`}>
      <NewKey secret={made.apiKey} onDone={onClose} />
    </Dialog>
  ) : (
    <Dialog isOpen isModalOnly={isBusy} onClose={onClose} title="Create an API key">
      <CreateKeyForm onCancel={onClose} onBusy={setIsBusy} onMade={setMade} />
    </Dialog>
  );
}

/** The form of a new key, with all values as typed. */
interface KeyValues {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** '': it never expires. */
  readonly days: string;
  readonly perCall: string;
  readonly perDay: string;
  /** Ids of agents with white space or commas between. */
  readonly allowedAgents: string;
}

const DAY_MS = 86_400_000;

/** Maps the form to a body of the API; empty fields are left out. */
function keyBody(values: KeyValues, nowMs: number): Call<Api['createApiKey']>['body'] {
  const ids = values.allowedAgents.split(/[\s,]+/).filter((id) => id !== '');
  const limits = {
    ...(values.perCall.trim() ? { perCall: values.perCall.trim() } : {}),
    ...(values.perDay.trim() ? { perDay: values.perDay.trim() } : {}),
    ...(ids.length > 0 ? { allowedAgents: ids } : {}),
  };
  return {
    name: values.name.trim(),
    scopes: [...values.scopes],
    ...(values.days ? { expiresAt: new Date(nowMs + Number(values.days) * DAY_MS).toISOString() } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  };
}

const lives = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

const initial: KeyValues = { name: '', scopes: defaultScopes, days: '90', perCall: '', perDay: '', allowedAgents: '' };

interface CreateKeyFormProps {
  readonly onCancel: () => void;
  /** True until the answer is there: it has the secret, which is shown once. */
  readonly onBusy: (isBusy: boolean) => void;
  readonly onMade: (key: { name: string; apiKey: string }) => void;
}

function CreateKeyForm({ onCancel, onBusy, onMade }: CreateKeyFormProps) {
  const session = useSession();
  const create = useApiMutation('createApiKey', { invalidates: ['listApiKeys'], onSuccess: onMade });
  const form = useForm({
    initial,
    schema: accessEndpoints.createApiKey.body,
    toBody: (values) => keyBody(values, Date.now()),
    async onSubmit(body) {
      onBusy(true);
      await create.mutateAsync({ body }).finally(() => onBusy(false));
    },
  });
  const { values, set, error } = form;
  // A session can give only scopes that it has.
  const offered: readonly Scope[] = allScopes.filter((scope) => session.scopes.includes(scope));
  return (
    <form onSubmit={form.submit} noValidate className="space-y-4">
      <Field label="Name" isRequired error={error('name')} hint="Purpose of the key, such as “billing worker”.">
        <TextInput value={values.name} onChange={(name) => set('name', name)} autoComplete="off" maxLength={120} />
      </Field>
      <ScopeChoice
        offered={offered}
        chosen={values.scopes}
        onChange={(scopes) => set('scopes', scopes)}
        error={error('scopes')}
      />
      <Field label="Expires" error={error('expiresAt')}>
        <Select value={values.days} onChange={(days) => set('days', days)} options={lives} />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Limit per call" error={error('limits.perCall')}>
          <SpendingLimit value={values.perCall} onChange={(perCall) => set('perCall', perCall)} />
        </Field>
        <Field label="Limit per day" error={error('limits.perDay')}>
          <SpendingLimit value={values.perDay} onChange={(perDay) => set('perDay', perDay)} />
        </Field>
      </div>
      <Field
        label="Only these agents"
        error={error('limits.allowedAgents')}
        hint="Agent IDs, one per line. Leave empty for all agents."
      >
        <Textarea
          rows={2}
          value={values.allowedAgents}
          onChange={(ids) => set('allowedAgents', ids)}
          className="font-mono"
        />
      </Field>
      <ErrorNote error={form.failure} />
      <Actions>
        <Button onClick={onCancel} disabled={form.isBusy}>
          Cancel
        </Button>
        <Button type="submit" variant="primary" isBusy={form.isBusy}>
          Create key
        </Button>
      </Actions>
    </form>
  );
}

const SpendingLimit = (props: { value: string; onChange: (value: string) => void }) => (
  <NumberInput unit="USDC" placeholder="no limit" {...props} />
);

interface ScopeChoiceProps {
  readonly offered: readonly Scope[];
  readonly chosen: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
  readonly error: string | undefined;
}

const ScopeChoice = ({ offered, chosen, onChange, error }: ScopeChoiceProps) => (
  <Fieldset legend="Scopes">
    <div className="grid gap-x-4 sm:grid-cols-2">
      {offered.map((scope) => (
        <Checkbox
          key={scope}
          label={<code className="text-[13px]">{scope}</code>}
          hint={scopeTexts[scope]}
          isChecked={chosen.includes(scope)}
          onChange={(isChecked) => onChange(isChecked ? [...chosen, scope] : chosen.filter((each) => each !== scope))}
        />
      ))}
    </div>
    {error && <p className="text-[13px] text-bad">{errorText('Scopes', error)}</p>}
    <p className="mt-1 text-[13px] text-muted">
      {offered.includes('payments:withdraw')
        ? 'A key that can withdraw sends USDC to any wallet without asking you again.'
        : 'For withdrawals by a program, create a withdrawal key: your wallet signs for it.'}
    </p>
  </Fieldset>
);
