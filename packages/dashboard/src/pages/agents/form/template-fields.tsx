import {
  inputSchemaOf,
  templateContentTypes,
  templateFault,
  templateMethods,
} from '@agent-network/contracts/agents/http-template';
import type { Form } from '../../../forms/use-form.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Field } from '../../../ui/controls/field.tsx';
import { Select } from '../../../ui/controls/select.tsx';
import { JsonInput, TextInput } from '../../../ui/controls/text-input.tsx';
import type { AgentValues } from './agent-values.ts';
import { takesBody, templateOf } from './upstream-values.ts';

const contentTypeNames: Readonly<Record<(typeof templateContentTypes)[number], string>> = {
  'application/json': 'JSON',
  'application/x-www-form-urlencoded': 'Form',
  'text/plain': 'Plain text',
};

/** Fields of a template: the request to the service, and where the result is in its answer. */
export const TemplateFields = ({ form }: { form: Form<AgentValues> }) => {
  const { values, set, error } = form;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[8rem_minmax(0,1fr)]">
        <Field label="Method" error={error('upstream.method')}>
          <Select
            value={values.method}
            onChange={(method) => set('method', method)}
            options={templateMethods.map((value) => ({ value, label: value }))}
          />
        </Field>
        <Field
          label="Path and query"
          error={error('upstream.path')}
          hint={
            <>
              Added to the endpoint, such as <code>{'/slugify?lang={{input/lang}}'}</code>. May be empty.
            </>
          }
        >
          <TextInput
            value={values.path}
            onChange={(path) => set('path', path)}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
          />
        </Field>
      </div>
      {takesBody(values.method) && <BodyFields form={form} />}
      <Field
        label="Result"
        error={error('upstream.result')}
        hint={
          <>
            JSON pointer into the answer, such as <code>/slug</code>; <code>text</code> if the answer is the result.
            Leave empty for the whole JSON answer.
          </>
        }
      >
        <TextInput
          value={values.result}
          onChange={(result) => set('result', result)}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
        />
      </Field>
      <ProposedSchema form={form} />
    </>
  );
};

const BodyFields = ({ form: { values, set, error } }: { form: Form<AgentValues> }) => (
  <>
    <Field
      label="Body"
      error={error('upstream.body')}
      hint={
        <>
          JSON. Its texts can hold <code>{'{{task}}'}</code>, <code>{'{{input}}'}</code> (all of it) and{' '}
          <code>{'{{input/name}}'}</code>.
        </>
      }
    >
      <JsonInput rows={4} value={values.body} onChange={(body) => set('body', body)} />
    </Field>
    <Field label="Sent as" error={error('upstream.contentType')}>
      <Select
        value={values.contentType}
        onChange={(contentType) => set('contentType', contentType)}
        options={templateContentTypes.map((value) => ({ value, label: contentTypeNames[value] }))}
      />
    </Field>
  </>
);

/** Declares the input that the placeholders take, while the agent declares none. */
function ProposedSchema({ form: { values, set } }: { form: Form<AgentValues> }) {
  const template = templateOf(values);
  const schema = templateFault(template) === null ? inputSchemaOf(template) : null;
  if (schema === null || values.inputSchema.trim() !== '') return null;
  return (
    <Button size="sm" onClick={() => set('inputSchema', JSON.stringify(schema, null, 2))}>
      Declare this input for callers
    </Button>
  );
}
