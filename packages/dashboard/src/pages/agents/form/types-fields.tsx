import type { Form } from '../../../forms/use-form.ts';
import { Field } from '../../../ui/controls/field.tsx';
import { JsonInput, TextInput } from '../../../ui/controls/text-input.tsx';
import type { AgentValues } from './agent-values.ts';
import { Part } from './part.tsx';

/** Error of a JSON field, or the first of those inside of it, with its place there. */
function errorWithin({ problems }: Form<AgentValues>, path: string): string | undefined {
  const own = problems.get(path);
  if (own) return own;
  const [inner] = [...problems].filter(([at]) => at.startsWith(`${path}.`));
  return inner && `${inner[0].slice(path.length + 1)} ${inner[1]}`;
}

const jsonFields = [
  {
    name: 'inputSchema',
    path: 'types.inputSchema',
    label: 'Schema of the input',
    hint: 'A JSON Schema with "type": "object" at its root. Calls with input that does not match are refused before payment.',
  },
  {
    name: 'outputSchema',
    path: 'types.outputSchema',
    label: 'Schema of the result',
    hint: 'A JSON Schema. Calls with a result that does not match count as failed and are refunded.',
  },
  {
    name: 'examples',
    path: 'types.examples',
    label: 'Examples',
    hint: 'A list such as [{"input": {…}, "output": {…}}]. Each must match the schemas.',
  },
  {
    name: 'capabilityTypes',
    path: 'types.capabilities',
    label: 'Schemas by capability',
    hint: 'Used by calls that name a capability, such as  {"translation": {"inputSchema": {…}}}.',
  },
] as const;

/** Fields for the agent's input and output schemas. */
export const TypesFields = ({ form }: { form: Form<AgentValues> }) => {
  const { values, set, error } = form;
  const failure = error('types');
  return (
    <Part title="Input and output">
      <div className="space-y-4">
        <p className="text-muted">All optional. The node checks calls and results against what you declare.</p>
        {jsonFields.map(({ name, path, label, hint }) => (
          <Field key={name} label={label} error={errorWithin(form, path)} hint={hint}>
            <JsonInput rows={values[name] ? 6 : 2} value={values[name]} onChange={(text) => set(name, text)} />
          </Field>
        ))}
        <Field
          label="Time it takes"
          error={error('types.estimatedTime')}
          hint="In seconds, such as 20s or 5-20s. Shown until the node has measured real calls."
        >
          <TextInput
            value={values.estimatedTime}
            onChange={(time) => set('estimatedTime', time)}
            placeholder="5-20s"
            autoComplete="off"
          />
        </Field>
        {failure && (
          <p role="alert" className="text-[13px] text-bad">
            Together they {failure.replace(/^has /, 'have ')}.
          </p>
        )}
      </div>
    </Part>
  );
};
