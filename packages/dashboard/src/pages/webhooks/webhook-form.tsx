import { type EventType, eventCatalogue, eventTypes } from '@agent-network/contracts/events';
import { webhookEndpoints } from '@agent-network/contracts/webhooks';
import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { type Form, useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Field, Fieldset } from '../../ui/controls/field.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import type { Webhook } from './webhook.ts';
import { changeBody, creationBody, newWebhook, valuesOf, type WebhookValues } from './webhook.ts';

interface FieldsProps {
  readonly form: Form<WebhookValues>;
  readonly action: string;
  readonly onCancel: () => void;
}

function WebhookFields({ form, action, onCancel }: FieldsProps) {
  const { values, set, error } = form;
  return (
    <form onSubmit={form.submit} noValidate className="space-y-4">
      <Field
        label="URL"
        isRequired
        error={error('url')}
        hint="Events are sent to this URL as POST requests. Respond with 2xx to confirm."
      >
        <TextInput
          type="url"
          value={values.url}
          onChange={(url) => set('url', url)}
          placeholder="https://example.com/hooks"
          autoComplete="off"
          spellCheck={false}
        />
      </Field>
      <Field label="Description" error={error('description')}>
        <TextInput
          value={values.description}
          onChange={(description) => set('description', description)}
          autoComplete="off"
          maxLength={200}
        />
      </Field>
      <EventTypeChoice
        chosen={values.eventTypes}
        onChange={(eventTypes) => set('eventTypes', eventTypes)}
        error={error('eventTypes')}
      />
      <ErrorNote error={form.failure} />
      <Actions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" isBusy={form.isBusy}>
          {action}
        </Button>
      </Actions>
    </form>
  );
}

interface CreateWebhookFormProps {
  readonly onCancel: () => void;
  readonly onMade: (webhook: Webhook & { secret: string }) => void;
}

export function CreateWebhookForm({ onCancel, onMade }: CreateWebhookFormProps) {
  const create = useApiMutation('createWebhook', { invalidates: ['listWebhooks'], onSuccess: onMade });
  const form = useForm({
    initial: newWebhook,
    schema: webhookEndpoints.createWebhook.body,
    toBody: creationBody,
    onSubmit: (body) => create.mutateAsync({ body }),
  });
  return <WebhookFields form={form} action="Add endpoint" onCancel={onCancel} />;
}

interface EditWebhookFormProps {
  readonly webhook: Webhook;
  readonly onDone: () => void;
}

export function EditWebhookForm({ webhook, onDone }: EditWebhookFormProps) {
  const update = useApiMutation('updateWebhook', { invalidates: ['listWebhooks'], onSuccess: onDone });
  const [before] = useState(() => valuesOf(webhook));
  const form = useForm({
    initial: before,
    schema: webhookEndpoints.updateWebhook.body,
    toBody: (values) => changeBody(values, before),
    onSubmit: (body) => update.mutateAsync({ params: { webhookId: webhook.webhookId }, body }),
  });
  return <WebhookFields form={form} action="Save" onCancel={onDone} />;
}

interface EventTypeChoiceProps {
  /** null: all. */
  readonly chosen: readonly EventType[] | null;
  readonly onChange: (chosen: readonly EventType[] | null) => void;
  readonly error: string | undefined;
}

const groups = [...Map.groupBy(eventTypes, (type) => type.slice(0, type.indexOf('.')))];

/** Choice of the event types that are sent, each with its description. */
function EventTypeChoice({ chosen, onChange, error }: EventTypeChoiceProps) {
  const toggle = (type: EventType, isChecked: boolean) => {
    const others = (chosen ?? []).filter((each) => each !== type);
    onChange(isChecked ? [...others, type] : others);
  };
  return (
    <Fieldset legend="Events">
      <Checkbox
        label="All events of this account"
        hint="Includes types added later. Network events are sent only if selected."
        isChecked={chosen === null}
        onChange={(isAll) => onChange(isAll ? null : [])}
      />
      {chosen !== null && (
        <div className="mt-1 max-h-64 space-y-2 overflow-y-auto rounded-md border border-line px-3 py-2">
          {groups.map(([group, types]) => (
            <div key={group}>
              <p className="text-[13px] font-medium text-muted capitalize">{group}</p>
              {types.map((type) => (
                <Checkbox
                  key={type}
                  label={<code className="text-[13px]">{type}</code>}
                  hint={eventCatalogue[type].when}
                  isChecked={chosen.includes(type)}
                  onChange={(isChecked) => toggle(type, isChecked)}
                />
              ))}
            </div>
          ))}
        </div>
      )}
      {error && chosen?.length === 0 && <p className="mt-1 text-[13px] text-bad">Choose at least one event.</p>}
    </Fieldset>
  );
}
