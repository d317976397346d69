import type { InputAnswer, InputRequest } from '@agent-network/contracts/invocations/turns';
import { CLIENT_CAPABILITIES_META_KEY, type ClientCapabilities, inputRequired } from '@modelcontextprotocol/server';
import { readAgent } from '../../../agents/search/find-agent.ts';
import { invalid } from '../../../lib/app-error.ts';
import { isObject, type Json, parseObject } from '../../../lib/json/json-object.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { answerOfText } from '../common/flat-input.ts';
import type { ToolCallContext } from './call-context.ts';

/** The kinds of elicitation that a client declares for this request. */
interface Elicits {
  readonly form: boolean;
  readonly url: boolean;
}

/** Only clients of 2026-07-28 on declare it with each request. `{}` is form mode alone. */
export function elicits({ mcpReq }: ToolCallContext): Elicits {
  const declared = (mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined)?.elicitation;
  if (!isObject(declared)) return { form: false, url: false };
  const { form, url } = declared;
  return { form: form !== undefined || url === undefined, url: url !== undefined };
}

/** True for a client that can be asked within a call. */
export const canElicit = (call: ToolCallContext): boolean => Object.values(elicits(call)).includes(true);

type Elicitations = Readonly<Record<string, ReturnType<typeof inputRequired.elicit>>>;

/** Key of the part of a question that only opens its link. Its answer means no more than that. */
const openKey = (inputId: string) => `${inputId}-open`;

/**
 * A question as the elicitations of a client, by their keys; null: the client can't be asked it. A link is opened by one, and done by
 * another, where the client has both kinds. `problem`: what was wrong with the last answer.
 */
export async function elicitationsOf(
  ctx: HttpContext,
  call: ToolCallContext,
  { agentId, question, problem = null }: Asking,
): Promise<Elicitations | null> {
  const { form, url } = elicits(call);
  const { inputId, schema } = question;
  if (question.url === undefined ? !form : !url) return null;
  const { name } = await readAgent(ctx, agentId).catch(() => ({ name: agentId }));
  const again = problem === null ? '' : `The answer did not fit. ${problem}\n\n`;
  const message = `${again}The agent "${name}" asks: ${question.message}`;
  if (question.url === undefined)
    return { [inputId]: inputRequired.elicit({ message, requestedSchema: formOf(schema) }) };
  const link = inputRequired.elicitUrl({ message, url: question.url });
  if (!form) return { [inputId]: link };
  const done = `${again}The agent "${name}" waits. Accept once you are done at ${new URL(question.url).host}.`;
  return {
    [openKey(inputId)]: link,
    [inputId]: inputRequired.elicit({ message: done, requestedSchema: flatForm(schema) ?? noFields }),
  };
}

export interface Asking {
  readonly agentId: string;
  readonly question: InputRequest;
  readonly problem?: string | null | undefined;
}

/** The answer in a client's response to the elicitation of a question; null: it leaves the question open. */
export function answerOfResponse(question: InputRequest, response: unknown): Omit<InputAnswer, 'inputId'> | null {
  if (!isObject(response)) return null;
  const { action, content } = response;
  if (action === 'decline') return { action };
  if (action !== 'accept') return null;
  const fields = isObject(content) ? content : {};
  if (question.url !== undefined || flatForm(question.schema)) return { action, input: fields };
  const text = typeof fields.answer === 'string' ? fields.answer : '';
  if (question.schema === undefined)
    return text.trim() === '' && question.kind === 'approval' ? { action } : answerOfText(undefined, text);
  const input = parseObject(text);
  if (!input) throw invalid('answer', 'must be a JSON object');
  return { action, input };
}

type Form = Parameters<typeof inputRequired.elicit>[0]['requestedSchema'];

const noFields = { type: 'object', properties: {} } as const satisfies Form;

/** The form of a question: its fields where a form can have them, else one text. */
function formOf(schema: InputRequest['schema']): Form {
  if (schema === undefined)
    return { type: 'object', properties: { answer: { type: 'string', title: 'Answer' } }, required: ['answer'] };
  const description = `A JSON object that fits this JSON Schema: ${JSON.stringify(schema)}`;
  return (
    flatForm(schema) ?? {
      type: 'object',
      properties: { answer: { type: 'string', title: 'Answer', description } },
      required: ['answer'],
    }
  );
}

/** Keywords of a whole schema that a form keeps, or may leave out: the node checks the answer against all of them. */
const ofForm: ReadonlySet<string> = new Set([
  ...['type', 'properties', 'required', 'title', 'description', '$schema', 'additionalProperties'],
]);

/** A schema as a form of fields without fields of their own; null: it is none. */
function flatForm(schema: InputRequest['schema']): Form | null {
  if (schema === undefined || !Object.keys(schema).every((keyword) => ofForm.has(keyword))) return null;
  const { properties = {}, required } = schema;
  if (!isObject(properties)) return null;
  const fields = Object.entries(properties).map(([name, field]) => [name, fieldOf(field)] as const);
  if (fields.some(([, field]) => field === null)) return null;
  const needed = Array.isArray(required) && required.length > 0 ? { required: required.map(String) } : {};
  return { type: 'object', properties: Object.fromEntries(fields), ...needed } as Form;
}

const texts = (values: unknown): boolean =>
  Array.isArray(values) && values.length > 0 && values.every((value) => typeof value === 'string');
const titled = (choices: unknown): boolean =>
  Array.isArray(choices) && choices.length > 0 && choices.every((each) => isObject(each) && isTitled(each));
const isTitled = ({ const: value, title }: Json) => typeof value === 'string' && typeof title === 'string';

/** Formats of a field of a form. */
const formats: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time']);
const kept = (field: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (field[name] === undefined ? [] : [[name, field[name]]])));
const shown = ['title', 'description', 'default'] as const;

/** Keywords that no field of a form has. */
const unfit = ['$ref', 'anyOf', 'allOf', 'not', 'if'] as const;

/** A field of a form; null: a form can't have it. */
function fieldOf(field: unknown): Json | null {
  if (!isObject(field) || unfit.some((keyword) => keyword in field)) return null;
  const { type, enum: values, oneOf, format, items } = field;
  if (values !== undefined || oneOf !== undefined) return choiceOf(field);
  if (type === 'string')
    return { type, ...kept(field, [...shown, 'minLength', 'maxLength']), ...(formats.has(format) ? { format } : {}) };
  if (type === 'number' || type === 'integer') return { type, ...kept(field, [...shown, 'minimum', 'maximum']) };
  if (type === 'boolean') return { type, ...kept(field, shown) };
  const each = type === 'array' && isObject(items) ? choicesIn(items) : null;
  return each && { type, items: each, ...kept(field, [...shown, 'minItems', 'maxItems']) };
}

/** A field with one of several texts. */
function choiceOf(field: Json): Json | null {
  const { type = 'string', enum: values, oneOf } = field;
  if (type !== 'string') return null;
  if (oneOf === undefined) return texts(values) ? { type, enum: values, ...kept(field, shown) } : null;
  return values === undefined && titled(oneOf) ? { type, oneOf, ...kept(field, shown) } : null;
}

/** The texts of which a field has any number. */
function choicesIn({ enum: values, anyOf }: Json): Json | null {
  if (texts(values)) return { type: 'string', enum: values };
  return titled(anyOf) ? { anyOf } : null;
}
