import { type AgentProtocol, agentProtocols } from '@agent-network/contracts/agents/upstream';
import { useState } from 'react';
import type { Form } from '../../../forms/use-form.ts';
import { Field } from '../../../ui/controls/field.tsx';
import { NumberInput, Textarea, TextInput } from '../../../ui/controls/text-input.tsx';
import { TokenInput } from '../../../ui/controls/token-input.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { protocolNames } from '../protocol-names.ts';
import { type AgentValues, type TextField, textFieldNames, textFields } from './agent-values.ts';
import { EndpointFields, HeaderFields } from './endpoint-fields.tsx';
import { Part } from './part.tsx';
import { FurtherPrices, PriceField } from './price-fields.tsx';
import { TypesFields } from './types-fields.tsx';

interface AgentFieldsProps {
  readonly form: Form<AgentValues>;
  readonly endpointHint: string;
  /** Capabilities that a new agent gets if its owner names none. */
  readonly suggested?: readonly string[];
}

/** Error of a list, or of its first invalid item. */
function listError(form: Form<AgentValues>, path: string, values: readonly string[]): string | undefined {
  const ofParts = values.map((value, at) => {
    const message = form.error(`${path}.${at}`);
    return message && `“${value}” ${message}`;
  });
  return form.error(path) ?? ofParts.find((message) => message !== undefined);
}

/** Fields of an agent, for registering and changing it: what every agent needs, and the rest folded. */
export const AgentFields = (props: AgentFieldsProps) => (
  <>
    <ProtocolChoice form={props.form} />
    <MainFields {...props} />
    <Advanced {...props} />
  </>
);

const MainFields = ({ form, endpointHint }: AgentFieldsProps) => {
  const { values, set, error } = form;
  return (
    <Card title="The agent">
      <div className="space-y-4">
        <Field label="Name" isRequired error={error('name')}>
          <TextInput value={values.name} onChange={(name) => set('name', name)} autoComplete="off" maxLength={120} />
        </Field>
        <Field
          label="Description"
          error={error('description')}
          hint="One or two sentences in plain words. People read them, and search finds the agent by them."
        >
          <Textarea value={values.description} onChange={(text) => set('description', text)} rows={3} />
        </Field>
        <EndpointFields form={form} endpointHint={endpointHint} />
        <PriceField form={form} />
      </div>
    </Card>
  );
};

/** Problems at these paths belong to the fields that are always shown. */
const mainPaths =
  /^(?:name|description|endpoint|protocol|rates\.perRequest|upstream\.(?:tool|model|method|path|body|contentType|result))$/;

/** Everything that most agents do without. Opens by itself when something in it is wrong. */
function Advanced(props: AgentFieldsProps) {
  const { form } = props;
  const [isOpen, setOpen] = useState(false);
  const hasProblem = [...form.problems.keys()].some((path) => path !== '' && !mainPaths.test(path));
  return (
    <details
      open={isOpen || hasProblem}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="rounded-lg border border-line bg-surface shadow-card"
    >
      <summary className="px-4 py-3 font-semibold">
        Advanced
        <span className="ml-2 font-normal text-muted">search terms, headers, prices by size, schemas, limits</span>
      </summary>
      <div className="divide-y divide-line border-t border-line *:p-4">
        <SearchFields {...props} />
        <HeaderFields form={form} />
        <FurtherPrices form={form} />
        <TypesFields form={form} />
        <MoreFields {...props} />
      </div>
    </details>
  );
}

/** Search terms of the agent, besides its name and description. */
const SearchFields = ({ form, suggested = [] }: AgentFieldsProps) => {
  const { values, set } = form;
  const isSuggesting = values.capabilities.length === 0 && suggested.length > 0;
  return (
    <Part title="Search">
      <Field
        label="Capabilities"
        error={listError(form, 'capabilities', values.capabilities)}
        hint={
          isSuggesting
            ? `From your text: ${suggested.join(', ')}. Type others to replace it.`
            : 'Search terms such as “summarization”. Press Enter or comma after each.'
        }
      >
        <TokenInput
          noun="capability"
          values={values.capabilities}
          onChange={(capabilities) => set('capabilities', capabilities)}
        />
      </Field>
      <Field
        label="Example questions"
        error={listError(form, 'exampleQuestions', values.exampleQuestions.split('\n'))}
        hint="Two to five, one per line, as callers would ask. Search finds the agent by them, and its page shows them."
      >
        <Textarea
          rows={3}
          value={values.exampleQuestions}
          onChange={(questions) => set('exampleQuestions', questions)}
          placeholder={'Turn this title into a slug\nWhat is the URL form of “Grüße aus Köln”?'}
        />
      </Field>
      <Field label="Tags" error={listError(form, 'metadata.tags', values.tags)} hint="Any words you like.">
        <TokenInput noun="tag" values={values.tags} onChange={(tags) => set('tags', tags)} />
      </Field>
    </Part>
  );
};

const MoreFields = ({ form }: AgentFieldsProps) => {
  const { values, set, error } = form;
  return (
    <Part title="Details">
      <div className="grid gap-4 sm:grid-cols-2">
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
    </Part>
  );
};

/** Kind of endpoint behind each protocol. */
const descriptions: Readonly<Record<AgentProtocol, string>> = {
  http: 'Your own program: it gets the task and returns a result, as JSON.',
  'http-template': 'An HTTP API as it is: a template says what is sent and where the result is.',
  openai: 'A model behind an OpenAI-compatible API.',
  mcp: 'One tool of an MCP server.',
  a2a: 'An agent with an A2A agent card.',
  'mip-003': 'A service that follows MIP-003.',
};

/** The protocol of an agent, chosen by what its owner has. */
const ProtocolChoice = ({ form: { values, set, error } }: { form: Form<AgentValues> }) => (
  <Card title="Start from">
    <fieldset className="min-w-0">
      <legend className="sr-only">Protocol</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {agentProtocols.map((protocol) => (
          <label
            key={protocol}
            className="flex cursor-pointer gap-2.5 rounded-md border border-line p-3 hover:bg-sunken/60 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="radio"
              name="protocol"
              value={protocol}
              checked={values.protocol === protocol}
              onChange={() => set('protocol', protocol)}
              className="mt-0.5 size-4 accent-accent"
            />
            <span className="min-w-0">
              <span className="block font-medium">{protocolNames[protocol]}</span>
              <span className="block text-[13px] text-muted">{descriptions[protocol]}</span>
            </span>
          </label>
        ))}
      </div>
      {error('protocol') && <p className="mt-1 text-[13px] text-bad">{error('protocol')}</p>}
    </fieldset>
  </Card>
);
