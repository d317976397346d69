import { accessEndpoints } from '@agent-network/contracts/access/access';
import { scopes as allScopes, defaultScopes, type Scope } from '@agent-network/contracts/access/scopes';
import { useApiMutation } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { NumberInput, Textarea, TextInput } from '../../ui/controls/text-input.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { type KeyValues, keyBody } from './key-body.ts';
import { ScopeChoice } from './scope-choice.tsx';

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

export function CreateKeyForm({ onCancel, onBusy, onMade }: CreateKeyFormProps) {
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
      <Field label="Name" isRequired error={error('name')} hint="What the key is for, such as “billing worker”.">
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
