import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import { isObject, type Json } from '../../lib/json/json-object.ts';

type Kind =
  | { readonly is: 'text'; readonly isShort: boolean }
  | { readonly is: 'number' }
  | { readonly is: 'choice'; readonly values: readonly unknown[] }
  /** A value without a control of its own, written as JSON. */
  | { readonly is: 'json' };

/** A field of the form that an agent's schema of inputs makes. */
export interface InputField {
  readonly name: string;
  readonly label: string;
  readonly help: string | null;
  readonly isRequired: boolean;
  readonly kind: Kind;
  /** Initial value, from the agent's first example: text, or JSON. */
  readonly value: string;
}

const MAX_FIELDS = 40;
const MAX_SHORT_CHARS = 200;
const MAX_CHOICES = 200;

/** Fields for the input that the agent declares; none when it declares no properties, or too many for a form. */
export function inputFields(types: AgentTypes | undefined): readonly InputField[] {
  const schema: Json = isObject(types?.inputSchema) ? types.inputSchema : {};
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const example: Json = types?.examples?.[0]?.input ?? {};
  const fields = Object.entries(properties).map(([name, part]) =>
    fieldOf(name, isObject(part) ? part : {}, { isRequired: required.includes(name), example }),
  );
  return fields.length > MAX_FIELDS ? [] : fields;
}

function fieldOf(
  name: string,
  part: Json,
  { isRequired, example }: { isRequired: boolean; example: Json },
): InputField {
  const first = Object.hasOwn(example, name) ? example[name] : part.default;
  const kind = kindOf(part, first);
  return {
    name,
    label: typeof part.title === 'string' && part.title !== '' ? part.title : name,
    help: helpOf(part),
    isRequired,
    kind,
    value: first === undefined ? '' : kind.is === 'text' ? String(first) : JSON.stringify(first),
  };
}

function kindOf(part: Json, first: unknown): Kind {
  const kind = kindOfSchema(part);
  const isFit =
    first === undefined ||
    (kind.is !== 'text' && kind.is !== 'number') ||
    typeof first === (kind.is === 'text' ? 'string' : 'number');
  return isFit ? kind : { is: 'json' };
}

function kindOfSchema({ type, enum: values, format, pattern, maxLength }: Json): Kind {
  if (Array.isArray(values))
    return values.length > 0 && values.length <= MAX_CHOICES ? { is: 'choice', values } : { is: 'json' };
  if (type === 'boolean') return { is: 'choice', values: [true, false] };
  if (type === 'number' || type === 'integer') return { is: 'number' };
  if (type !== 'string') return { is: 'json' };
  return { is: 'text', isShort: format !== undefined || pattern !== undefined || Number(maxLength) <= MAX_SHORT_CHARS };
}

function helpOf({ description, minimum, maximum }: Json): string | null {
  const parts = [
    typeof description === 'string' ? description : '',
    typeof minimum === 'number' ? `At least ${minimum}.` : '',
    typeof maximum === 'number' ? `At most ${maximum}.` : '',
  ];
  return parts.filter(Boolean).join(' ') || null;
}
