import { type ReactNode, useId, useState } from 'react';
import { Button, IconButton } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { JsonInput, NumberInput, Textarea, TextInput } from '../../ui/controls/text-input.tsx';
import { parseJson } from './call-values.ts';
import { fits, type InputField, isObject, numberTyped, ownValue, problemAt, type Scalar } from './input-fields.ts';

interface InputFormProps {
  readonly fields: readonly InputField[];
  /** The object that has the fields. */
  readonly value: unknown;
  /** Path of the object in the input. */
  readonly path: readonly string[];
  readonly onChange: (path: readonly string[], value: unknown) => void;
  readonly drafts: Readonly<Record<string, string>>;
  readonly onDraft: (path: readonly string[], text: string | null) => void;
  /** Problems by path in the body. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Key of a field in `drafts`. */
export const draftKey = (path: readonly string[]): string => JSON.stringify(path);

/** Inputs for the fields of a schema. */
export const InputForm = ({ fields, ...rest }: InputFormProps) => (
  <div className="space-y-4">
    {fields.map((field) => (
      <OneField key={field.name} {...rest} field={field} />
    ))}
  </div>
);

function OneField({ field, ...form }: Omit<InputFormProps, 'fields'> & { readonly field: InputField }) {
  const { kind, label, isRequired, help } = field;
  const path = [...form.path, field.name];
  const bodyPath = ['input', ...path].join('.');
  const value = ownValue(form.value, field.name);
  const draft = form.drafts[draftKey(path)];
  const set = (next: unknown) => form.onChange(path, next);
  const isShown = draft === undefined && fits(kind, value);
  if (isShown && kind.is === 'group')
    return (
      <Group label={label} isRequired={isRequired} hint={help} error={form.problems.get(bodyPath)}>
        <InputForm {...form} fields={kind.fields} value={isObject(value) ? value : {}} path={path} />
      </Group>
    );
  if (isShown && kind.is === 'list')
    return (
      <Group label={label} isRequired={isRequired} hint={help} error={form.problems.get(bodyPath)}>
        <ListInput
          label={label}
          item={kind.item}
          values={Array.isArray(value) ? value : []}
          onChange={(values) => set(values.length === 0 && !isRequired ? undefined : values)}
          errorAt={(index) => problemAt(form.problems, `${bodyPath}.${index}`)}
        />
      </Group>
    );
  const error = problemAt(form.problems, bodyPath);
  if (!isShown || kind.is === 'json' || kind.is === 'group' || kind.is === 'list')
    return (
      <JsonDraft
        {...{ label: `${label} (JSON)`, hint: help, isRequired, error, value, draft }}
        onChange={set}
        onDraft={(text) => form.onDraft(path, text)}
      />
    );
  const unread = kind.is === 'number' && typeof value === 'string' ? 'is not a number' : undefined;
  return (
    <Field label={label} isRequired={isRequired} hint={help} error={unread ?? error}>
      <ScalarInput kind={kind} value={value} onChange={set} />
    </Field>
  );
}

interface ListInputProps {
  readonly label: string;
  readonly item: Scalar;
  readonly values: readonly unknown[];
  readonly onChange: (values: readonly unknown[]) => void;
  readonly errorAt: (index: number) => string | undefined;
}

function ListInput({ label, item, values, onChange, errorAt }: ListInputProps) {
  const empty = item.is === 'text' ? '' : null;
  return (
    <div className="space-y-3">
      {values.map((value, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have nothing but their place
        <div key={index} className="flex items-end gap-2">
          <div className="min-w-0 flex-1">
            <Field label={`${label} ${index + 1}`} error={errorAt(index)}>
              <ScalarInput
                kind={item}
                value={value === null && !fits(item, null) ? undefined : value}
                onChange={(next) => onChange(values.with(index, next ?? empty))}
              />
            </Field>
          </div>
          <IconButton
            icon="close"
            label={`Remove ${label} ${index + 1}`}
            onClick={() => onChange(values.toSpliced(index, 1))}
          />
        </div>
      ))}
      <Button size="sm" icon="plus" onClick={() => onChange([...values, empty])}>
        Add to {label}
      </Button>
    </div>
  );
}

interface GroupProps {
  readonly label: string;
  readonly isRequired: boolean;
  readonly hint: string | undefined;
  readonly error: string | undefined;
  readonly children: ReactNode;
}

/** Inputs that are one field of the input. */
function Group({ label, isRequired, hint, error, children }: GroupProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <fieldset className="min-w-0 border-l-2 border-line pl-3" aria-describedby={described || undefined}>
      <legend className="font-medium">
        {label}
        {isRequired && <span className="text-muted"> (required)</span>}
      </legend>
      {hint && (
        <p id={`${id}-hint`} className="mb-2 text-[13px] text-muted">
          {hint}
        </p>
      )}
      {children}
      {error && (
        <p id={`${id}-error`} className="mt-1 text-[13px] text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface JsonDraftProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  readonly error: string | undefined;
  readonly value: unknown;
  /** Text that is not JSON yet. */
  readonly draft: string | undefined;
  readonly onChange: (value: unknown) => void;
  /** null: the text is JSON again. */
  readonly onDraft: (text: string | null) => void;
}

const textOf = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, null, 2));

/** One field of the input, written as JSON. */
function JsonDraft({ label, hint, isRequired, error, value, draft, onChange, onDraft }: JsonDraftProps) {
  const [typed, setTyped] = useState('');
  const meant = jsonValue(typed);
  const isTyped = meant !== null && textOf(meant.value) === textOf(value);
  const parsed = draft === undefined ? null : parseJson(draft);
  return (
    <Field
      label={label}
      hint={hint}
      isRequired={isRequired}
      error={parsed && 'problem' in parsed ? parsed.problem : error}
    >
      <JsonInput
        rows={3}
        value={draft ?? (isTyped ? typed : textOf(value))}
        onChange={(text) => {
          setTyped(text);
          const next = jsonValue(text);
          onDraft(next ? null : text);
          if (next) onChange(next.value);
        }}
      />
    </Field>
  );
}

/** The value of a text, none for an empty one; null: it is not JSON. */
function jsonValue(text: string): { readonly value: unknown } | null {
  if (text.trim() === '') return { value: undefined };
  const parsed = parseJson(text);
  return 'value' in parsed ? parsed : null;
}

interface ScalarInputProps<Kind extends Scalar = Scalar> {
  readonly kind: Kind;
  /** undefined: there is none. It fits the kind. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** Input for one value of a schema. */
function ScalarInput({ kind, ...rest }: ScalarInputProps) {
  if (kind.is === 'number') return <NumberField {...rest} kind={kind} />;
  if (kind.is === 'choice') return <ChoiceField {...rest} kind={kind} />;
  const props = {
    value: typeof rest.value === 'string' ? rest.value : '',
    onChange: (text: string) => rest.onChange(text === '' ? undefined : text),
  };
  return kind.isLong ? <Textarea rows={2} {...props} /> : <TextInput autoComplete="off" {...props} />;
}

/** Keeps the typed text, such as "1.0", as long as it equals the value. */
function NumberField({ value, onChange }: ScalarInputProps) {
  const [typed, setTyped] = useState('');
  const text = value === undefined || value === null ? '' : String(value);
  return (
    <NumberInput
      value={numberTyped(typed) === value ? typed : text}
      onChange={(next) => {
        setTyped(next);
        onChange(numberTyped(next));
      }}
    />
  );
}

const labelOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : JSON.stringify(value));

function ChoiceField({ kind: { values }, value, onChange }: ScalarInputProps<Extract<Scalar, { is: 'choice' }>>) {
  const at = values.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
  return (
    <Select
      value={String(at)}
      onChange={(next) => onChange(next === '-1' ? undefined : values[Number(next)])}
      options={[
        { value: '-1', label: '(none)' },
        ...values.map((each, index) => ({ value: String(index), label: labelOf(each) })),
      ]}
    />
  );
}
