import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { useId, useState } from 'react';
import { useApiMutation } from '../../../app/api-query.ts';
import { isSame } from '../../../forms/is-same.ts';
import type { Form } from '../../../forms/use-form.ts';
import { Button, IconButton } from '../../../ui/controls/button.tsx';
import { errorText, Field } from '../../../ui/controls/field.tsx';
import { TextInput } from '../../../ui/controls/text-input.tsx';
import { ErrorNote } from '../../../ui/values/error-note.tsx';
import { Note } from '../../../ui/values/note.tsx';
import type { AgentValues } from './agent-values.ts';
import { Part } from './part.tsx';
import { TemplateFields } from './template-fields.tsx';
import { type HeaderValues, noHeader, registeredUpstream } from './upstream-values.ts';

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

/** The address of the agent, what its protocol needs besides, and a test of both. */
export const EndpointFields = ({ form, endpointHint }: EndpointFieldsProps) => {
  const { values, set, error } = form;
  const { example, hint } = addresses[values.protocol];
  return (
    <>
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
          <TextInput value={values.tool} onChange={(tool) => set('tool', tool)} autoComplete="off" spellCheck={false} />
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
      <EndpointTest form={form} />
    </>
  );
};

/** Headers that the node sends with each call. */
export const HeaderFields = ({ form: { values, set, error } }: { form: Form<AgentValues> }) => {
  const { headers } = values;
  const failure = error('upstream.headers');
  return (
    <Part title="Headers of each call">
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
    </Part>
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

/** Asks the node to reach the endpoint as it is typed; nothing is saved, and no call is made. */
function EndpointTest({ form: { values } }: { form: Form<AgentValues> }) {
  const test = useApiMutation('testEndpoint');
  const body = { endpoint: values.endpoint, ...registeredUpstream(values) };
  const [tested, setTested] = useState<typeof body | null>(null);
  const isCurrent = isSame(tested, body);
  const hasStored = values.headers.some(({ isStored, value }) => isStored && !value);
  if (hasStored)
    return (
      <p className="text-[13px] text-muted">Stored headers can't be tested here. Save, then check the endpoint.</p>
    );
  return (
    <div className="space-y-2">
      <Button
        icon="bolt"
        isBusy={test.isPending}
        disabled={values.endpoint === ''}
        onClick={() => {
          setTested(body);
          test.mutate({ body: body as never });
        }}
      >
        Test endpoint
      </Button>
      <div role="status" className="empty:hidden">
        {isCurrent && test.data && <TestResult result={test.data} />}
      </div>
      {isCurrent && <ErrorNote title="Not tested" error={test.error} />}
    </div>
  );
}

const TestResult = ({ result }: { result: DataOf<Api['testEndpoint']> }) =>
  result.callable ? (
    <Note tone="good" title={`The endpoint answers, in ${result.took.replace('s', ' s')}`}>
      Whether it belongs to you is verified after you register.
    </Note>
  ) : (
    <Note tone="warn" title={result.reason ?? 'The endpoint cannot be called'}>
      {result.advice && <p>{result.advice}</p>}
      {result.body !== null && (
        <p className="mt-1 font-mono text-[13px] wrap-anywhere">
          {result.status} <bdi>{result.body}</bdi>
        </p>
      )}
    </Note>
  );
