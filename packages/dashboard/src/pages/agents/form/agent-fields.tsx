import type { Form } from '../../../forms/use-form.ts';
import { Field } from '../../../ui/controls/field.tsx';
import { NumberInput, Textarea, TextInput } from '../../../ui/controls/text-input.tsx';
import { TokenInput } from '../../../ui/controls/token-input.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { type AgentValues, type TextField, textFieldNames, textFields } from './agent-values.ts';
import { EndpointFields } from './endpoint-fields.tsx';
import { PriceFields } from './price-fields.tsx';
import { TypesFields } from './types-fields.tsx';

interface AgentFieldsProps {
  readonly form: Form<AgentValues>;
  readonly endpointHint: string;
}

/** Error of a list, or of its first invalid item. */
function listError(form: Form<AgentValues>, path: string, values: readonly string[]): string | undefined {
  const ofParts = values.map((value, at) => {
    const message = form.error(`${path}.${at}`);
    return message && `“${value}” ${message}`;
  });
  return form.error(path) ?? ofParts.find((message) => message !== undefined);
}

/** All fields of an agent, for registering and changing it. */
export const AgentFields = (props: AgentFieldsProps) => (
  <>
    <MainFields {...props} />
    <EndpointFields {...props} />
    <PriceFields form={props.form} />
    <TypesFields form={props.form} />
    <MoreFields {...props} />
  </>
);

const MainFields = ({ form }: AgentFieldsProps) => {
  const { values, set, error } = form;
  return (
    <Card title="Basics">
      <div className="space-y-4">
        <Field label="Name" isRequired error={error('name')}>
          <TextInput value={values.name} onChange={(name) => set('name', name)} autoComplete="off" maxLength={120} />
        </Field>
        <Field label="Description" error={error('description')} hint="Shown to people and used for search.">
          <Textarea value={values.description} onChange={(text) => set('description', text)} rows={3} />
        </Field>
        <Field
          label="Capabilities"
          isRequired
          error={listError(form, 'capabilities', values.capabilities)}
          hint="Search terms such as “summarization”. Press Enter or comma after each."
        >
          <TokenInput
            noun="capability"
            values={values.capabilities}
            onChange={(capabilities) => set('capabilities', capabilities)}
          />
        </Field>
      </div>
    </Card>
  );
};

const MoreFields = ({ form }: AgentFieldsProps) => {
  const { values, set, error } = form;
  return (
    <Card title="Details">
      <div className="grid gap-4 sm:grid-cols-2">
        <div className="sm:col-span-2">
          <Field label="Tags" error={listError(form, 'metadata.tags', values.tags)} hint="Any words you like.">
            <TokenInput noun="tag" values={values.tags} onChange={(tags) => set('tags', tags)} />
          </Field>
        </div>
        {textFieldNames.map((name) => {
          const { label, hint, ...input } = textFields[name] as TextField;
          return (
            <Field key={name} label={label} error={error(`metadata.${name}`)} {...(hint ? { hint } : {})}>
              <TextInput {...input} value={values[name]} onChange={(text) => set(name, text)} />
            </Field>
          );
        })}
        <Field
          label="Concurrent calls"
          error={error('metadata.maxConcurrency')}
          hint="How many calls it can handle at once. Its load is measured against this."
        >
          <NumberInput
            inputMode="numeric"
            value={values.maxConcurrency}
            onChange={(calls) => set('maxConcurrency', calls)}
          />
        </Field>
      </div>
    </Card>
  );
};
