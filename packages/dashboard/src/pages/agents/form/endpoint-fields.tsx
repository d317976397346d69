import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { agentProtocols } from '@agent-network/contracts/agents/upstream';
import { useId } from 'react';
import type { Form } from '../../../forms/use-form.ts';
import { Button, IconButton } from '../../../ui/controls/button.tsx';
import { errorText, Field, Fieldset } from '../../../ui/controls/field.tsx';
import { Select } from '../../../ui/controls/select.tsx';
import { TextInput } from '../../../ui/controls/text-input.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { protocolNames } from '../protocol-names.ts';
import type { AgentValues } from './agent-values.ts';
import { TemplateFields } from './template-fields.tsx';
import { type HeaderValues, noHeader } from './upstream-values.ts';

const addresses: Readonly<Record<AgentProtocol, { example: string; hint: string }>> = {
  http: { example: 'https://agent.example/run', hint: 'Each call is a POST to it.' },
  'http-template': { example: 'https://api.example', hint: 'The base URL of the service.' },
  a2a: { example: 'https://agent.example/a2a', hint: 'The base URL of the server, or the URL of its agent card.' },
  openai: { example: 'https://models.example/v1', hint: 'The base URL, ending in /v1.' },
  mcp: { example: 'https://tools.example/mcp', hint: 'The URL of the MCP server.' },
  'mip-003': { example: 'https://agent.example', hint: 'The base URL of the agent.' },
};

interface EndpointFieldsProps {
  readonly form: Form<AgentValues>;
  readonly endpointHint: string;
}

/** Fields for the address and the protocol by which the node calls the agent. */
export const EndpointFields = ({ form, endpointHint }: EndpointFieldsProps) => {
  const { values, set, error } = form;
  const { example, hint } = addresses[values.protocol];
  return (
    <Card title="How it is called">
      <div className="space-y-4">
        <Field label="Protocol" error={error('protocol')}>
          <Select
            value={values.protocol}
            onChange={(protocol) => set('protocol', protocol)}
            options={agentProtocols.map((value) => ({ value, label: protocolNames[value] }))}
          />
        </Field>
        <Field label="Endpoint" isRequired error={error('endpoint')} hint={`${hint} ${endpointHint}`}>
          <TextInput
            type="url"
            value={values.endpoint}
            onChange={(endpoint) => set('endpoint', endpoint)}
            placeholder={example}
            autoComplete="off"
            spellCheck={false}
          />
        </Field>
        {values.protocol === 'mcp' && (
          <Field
            label="Tool"
            error={error('upstream.tool')}
            hint="The tool to call. Leave empty if the server has only one."
          >
            <TextInput
              value={values.tool}
              onChange={(tool) => set('tool', tool)}
              autoComplete="off"
              spellCheck={false}
            />
          </Field>
        )}
        {values.protocol === 'openai' && (
          <Field label="Model" isRequired error={error('upstream.model')} hint="One that GET /models lists.">
            <TextInput
              value={values.model}
              onChange={(model) => set('model', model)}
              autoComplete="off"
              spellCheck={false}
            />
          </Field>
        )}
        {values.protocol === 'http-template' && <TemplateFields form={form} />}
        <HeaderFields form={form} />
      </div>
    </Card>
  );
};

const HeaderFields = ({ form: { values, set, error } }: { form: Form<AgentValues> }) => {
  const { headers } = values;
  const failure = error('upstream.headers');
  return (
    <Fieldset legend="Headers of each call">
      <p className="mb-2 text-[13px] text-muted">
        Such as Authorization. Sent only to the endpoint's origin. Values are stored encrypted and never shown again.
      </p>
      <div className="space-y-3">
        {headers.map((header, index) => (
          <HeaderRow
            // biome-ignore lint/suspicious/noArrayIndexKey: headers that are being typed have nothing but their place
            key={index}
            label={`Header ${index + 1}`}
            header={header}
            error={error(`upstream.headers.${header.name}`)}
            onChange={(next) => set('headers', headers.with(index, next))}
            onRemove={() => set('headers', headers.toSpliced(index, 1))}
          />
        ))}
        <Button size="sm" icon="plus" onClick={() => set('headers', [...headers, noHeader])}>
          Add a header
        </Button>
      </div>
      {failure && (
        <p role="alert" className="mt-1 text-[13px] text-bad">
          {failure}
        </p>
      )}
    </Fieldset>
  );
};

interface HeaderRowProps {
  readonly label: string;
  readonly header: HeaderValues;
  readonly error: string | undefined;
  readonly onChange: (header: HeaderValues) => void;
  readonly onRemove: () => void;
}

const HeaderRow = ({ label, header, error, onChange, onRemove }: HeaderRowProps) => {
  const errorId = useId();
  const { name, value, isStored } = header;
  const marks = { 'aria-invalid': error ? true : undefined, 'aria-describedby': error ? errorId : undefined } as const;
  return (
    <div>
      <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-2 sm:grid-cols-[minmax(0,1fr)_minmax(0,2fr)_auto]">
        <TextInput
          {...marks}
          aria-label={label}
          className="col-start-1 read-only:bg-sunken"
          value={name}
          readOnly={isStored}
          placeholder="Authorization"
          autoComplete="off"
          spellCheck={false}
          onChange={(typed) => onChange({ ...header, name: typed })}
        />
        <TextInput
          {...marks}
          aria-label={`Value of ${label.toLowerCase()}`}
          className="col-start-1 sm:col-start-2"
          value={value}
          placeholder={isStored ? 'kept as it is' : undefined}
          autoComplete="off"
          spellCheck={false}
          onChange={(typed) => onChange({ ...header, value: typed })}
        />
        <IconButton
          icon="close"
          label={`Remove ${label.toLowerCase()}`}
          className="col-start-2 row-start-1 sm:col-start-3"
          onClick={onRemove}
        />
      </div>
      {error && (
        <p id={errorId} className="mt-1 text-[13px] text-bad">
          {errorText(label, error)}
        </p>
      )}
    </div>
  );
};
