import { type AgentTypes, typesOfCall } from '@agent-network/contracts/agents/agent-types';
import { priorities } from '@agent-network/contracts/invocations/invocations';
import type { Form } from '../../forms/use-form.ts';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { Textarea } from '../../ui/controls/text-input.tsx';
import type { CallValues, Mode } from './call-values.ts';
import { InputPart } from './input-part.tsx';

const modeOptions: readonly { value: Mode; label: string }[] = [
  { value: 'stream', label: 'Stream: show output as it arrives' },
  { value: 'sync', label: 'Sync: wait for the result' },
  { value: 'async', label: 'Async: check back later' },
];

const deadlines = [
  { value: '', label: 'In 10 minutes' },
  { value: '30', label: 'In 30 seconds' },
  { value: '60', label: 'In 1 minute' },
  { value: '3600', label: 'In 1 hour' },
  { value: '43200', label: 'In 12 hours' },
];

const priorityOptions = priorities.map((value) => ({ value, label: value }));

interface CallFieldsProps {
  readonly form: Form<CallValues>;
  readonly types: AgentTypes | undefined;
}

/** Fields of the call: task, input, mode and options. */
export function CallFields({ form, types = {} }: CallFieldsProps) {
  const { values, set, error } = form;
  const capabilities = Object.keys(types.capabilities ?? {});
  return (
    <>
      <Field label="Task" isRequired error={error('task')}>
        <Textarea rows={4} value={values.task} onChange={(task) => set('task', task)} />
      </Field>
      {capabilities.length > 0 && (
        <Field
          label="Capability"
          error={error('capability')}
          hint="Input and result are checked against this capability's schemas."
        >
          <Select
            value={values.capability}
            onChange={(capability) => {
              set('drafts', {});
              set('capability', capability);
            }}
            options={[{ value: '', label: '(none)' }, ...capabilities.map((name) => ({ value: name, label: name }))]}
          />
        </Field>
      )}
      <InputPart form={form} types={typesOfCall(types, values.capability || null)} />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Mode">
          <Select value={values.mode} onChange={(mode) => set('mode', mode)} options={modeOptions} />
        </Field>
        <Field label="Priority">
          <Select
            value={values.priority}
            onChange={(priority) => set('priority', priority)}
            options={priorityOptions}
          />
        </Field>
        <Field label="Deadline" error={error('deadline')}>
          <Select value={values.deadlineS} onChange={(deadlineS) => set('deadlineS', deadlineS)} options={deadlines} />
        </Field>
      </div>
      <Checkbox
        label="Fall back to a similar agent"
        hint="If this agent is unavailable, for no more than the quoted price."
        isChecked={values.fallback}
        onChange={(fallback) => set('fallback', fallback)}
      />
    </>
  );
}
