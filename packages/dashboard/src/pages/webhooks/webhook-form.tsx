import { webhookEndpoints } from '@agent-network/contracts/webhooks';
import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import type { Form } from '../../forms/use-form.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { EventTypeChoice } from './event-type-choice.tsx';
import type { Webhook } from './webhook.ts';
import { changeBody, creationBody, newWebhook, valuesOf, type WebhookValues } from './webhook-body.ts';

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
