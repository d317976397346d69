import type { AgentTypesPart } from '@agent-network/contracts/agents/agent-types';
import { useState } from 'react';
import type { Form } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { JsonInput } from '../../ui/controls/text-input.tsx';
import { type InputValues, parseJson } from './call-values.ts';
import { fieldsOf, isObject, problemAt, problemsBeside, withValue } from './input-fields.ts';
import { draftKey, InputForm } from './input-form.tsx';

interface InputPartProps {
  readonly form: Form<InputValues>;
  readonly types: AgentTypesPart;
}

/** Input for the agent: a form of its schema, or JSON. Both edit one text, so that each shows changes made in the other. */
export function InputPart({ form, types: { inputSchema, examples = [] } }: InputPartProps) {
  const [isJsonWanted, wantJson] = useState(false);
  const { values, set, problems, error } = form;
  const fields = fieldsOf(inputSchema);
  const parsed = parseJson(values.input);
  const input = 'value' in parsed && isObject(parsed.value) ? parsed.value : null;
  const isForm = fields !== null && input !== null && !isJsonWanted;
  const isUnfinished = Object.keys(values.drafts).length > 0;
  const write = (text: string) => {
    set('drafts', {});
    set('input', text);
  };
  const setDraft = (path: readonly string[], text: string | null) => {
    const { [draftKey(path)]: _, ...others } = values.drafts;
    set('drafts', text === null ? others : { ...others, [draftKey(path)]: text });
  };
  const beside = isForm
    ? problemsBeside(
        problems,
        fields.map(({ name }) => name),
      )
    : [];
  const broken = 'problem' in parsed && error('input') ? parsed.problem : undefined;
  return (
    <div className="space-y-4">
      <InputBar
        examples={examples}
        onExample={(example) => write(JSON.stringify(example, null, 2))}
        hasForm={fields !== null}
        isForm={isForm}
        canSwitch={isForm ? !isUnfinished : input !== null}
        onSwitch={() => wantJson(isForm)}
      />
      {isForm ? (
        <fieldset className="min-w-0 space-y-4">
          <legend className="mb-2 font-medium">Input</legend>
          {beside.map((each) => (
            <p key={each} className="text-[13px] text-bad">
              {each}
            </p>
          ))}
          <InputForm
            fields={fields}
            value={input}
            path={[]}
            onChange={(path, value) => set('input', JSON.stringify(withValue(input, path, value), null, 2))}
            drafts={values.drafts}
            onDraft={setDraft}
            problems={problems}
          />
        </fieldset>
      ) : (
        <Field label="Input (JSON)" error={broken ?? problemAt(problems, 'input')}>
          <JsonInput rows={4} value={values.input} onChange={write} />
        </Field>
      )}
    </div>
  );
}

interface InputBarProps {
  readonly examples: NonNullable<AgentTypesPart['examples']>;
  readonly onExample: (input: unknown) => void;
  readonly hasForm: boolean;
  readonly isForm: boolean;
  readonly canSwitch: boolean;
  readonly onSwitch: () => void;
}

/** Examples to begin with, and the way from the form to JSON and back. */
const InputBar = ({ examples, onExample, hasForm, isForm, canSwitch, onSwitch }: InputBarProps) =>
  (hasForm || examples.length > 0) && (
    <div className="flex flex-wrap items-center gap-2">
      {examples.map(({ description, input }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: examples have nothing but their place
        <Button key={at} size="sm" className="max-w-full" onClick={() => onExample(input)}>
          <bdi className="truncate">{exampleLabel(description, at, examples.length)}</bdi>
        </Button>
      ))}
      {hasForm && (
        <Button size="sm" variant="ghost" className="ml-auto" disabled={!canSwitch} onClick={onSwitch}>
          {isForm ? 'Edit as JSON' : 'Edit as a form'}
        </Button>
      )}
    </div>
  );

function exampleLabel(description: string | undefined, at: number, count: number): string {
  if (description) return `Use example: ${description}`;
  return count === 1 ? 'Use example' : `Use example ${at + 1}`;
}
