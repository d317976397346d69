import { priorities } from '@agent-network/contracts/invocations/invocations';
import type { Form } from '../../forms/use-form.ts';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { JsonInput, Textarea } from '../../ui/controls/text-input.tsx';
import { type CallValues, type Mode, parseJson } from './call-values.ts';

const modeOptions: readonly { value: Mode; label: string }[] = [
  { value: 'stream', label: 'Stream, as it comes' },
  { value: 'sync', label: 'Sync, wait for it' },
  { value: 'async', label: 'Async, look later' },
];

const deadlines = [
  { value: '', label: 'In 10 minutes' },
  { value: '30', label: 'In 30 seconds' },
  { value: '60', label: 'In 1 minute' },
  { value: '3600', label: 'In 1 hour' },
  { value: '43200', label: 'In 12 hours' },
];

const priorityOptions = priorities.map((value) => ({ value, label: value }));

/** Fields of the call: task, mode and options. */
export function CallFields({ form }: { form: Form<CallValues> }) {
  const { values, set, error } = form;
  const parsed = parseJson(values.input);
  const broken = 'problem' in parsed && error('input') ? parsed.problem : undefined;
  return (
    <>
      <Field label="Task" isRequired error={error('task')}>
        <Textarea rows={4} value={values.task} onChange={(task) => set('task', task)} />
      </Field>
      <Field label="Input (JSON)" error={broken ?? error('input')}>
        <JsonInput rows={4} value={values.input} onChange={(input) => set('input', input)} />
      </Field>
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
        hint="Used when this agent is unavailable, for at most the quoted price."
        isChecked={values.fallback}
        onChange={(fallback) => set('fallback', fallback)}
      />
    </>
  );
}
