import { hash } from 'node:crypto';
import { isObject, type Json, scalarText } from '../../../lib/json/json-object.ts';
import type { AgentOutcome } from '../../invocation.ts';
import type { GivenAnswer } from '../../turns/turn-store.ts';
import type { AgentCall } from '../adapter.ts';
import { failed, readAsked } from '../agent-answer.ts';

const MAX_FIELDS = 100;
/** Longer ids are no ids of a question. */
const MAX_ID_CHARS = 200;

const needsInput = failed('agent_needs_input', 'The agent asked for more input, which a call does not have.');

/** Kept with a question, to make its answer. */
interface Kept {
  /** Id of the status that asks; empty: the agent gives none. */
  readonly statusId: string;
  readonly isGrouped: boolean;
  /** Values of hidden fields, in the form of the answer. */
  readonly hidden: Json;
}

/** A group of fields; `id` null: the fields are in no group. */
interface Group {
  readonly id: string | null;
  readonly title: string;
  readonly fields: readonly Json[];
}

/** The question of a job that awaits input; a failure where the call is not asked, or the question can't be shown. */
export function questionOf({ invocation }: Pick<AgentCall, 'invocation'>, job: Json, jobId: string): AgentOutcome {
  if (invocation.inputTimeoutS === null) return needsInput;
  const groups = groupsIn(job.input_schema);
  if (groups.reduce((sum, { fields }) => sum + fields.length, 0) > MAX_FIELDS)
    return failed('invalid_response', `The agent asked a question of more than ${MAX_FIELDS} fields.`);
  const isGrouped = groups.some(({ id }) => id !== null);
  const schemas = groups.map((group) => [group.id ?? '', schemaOf(group)] as const);
  const schema = isGrouped
    ? { type: 'object', properties: Object.fromEntries(schemas), required: schemas.map(([id]) => id) }
    : schemas[0]?.[1];
  const hidden = groups.map((group) => [group.id ?? '', hiddenIn(group)] as const);
  const state: Kept = {
    statusId: statusIdOf(job, jobId),
    isGrouped,
    hidden: isGrouped ? Object.fromEntries(hidden) : (hidden[0]?.[1] ?? {}),
  };
  const input = { id: questionIdOf(job, jobId), message: messageOf(job, groups), ...(schema ? { schema } : {}) };
  const asked = readAsked({ input, state });
  return asked.kind === 'asks' ? { ...asked, handle: jobId } : asked;
}

/** The id of a status; empty: the agent gives none, as some repeat the id of the job. */
function statusIdOf({ id, status_id: statusId }: Json, jobId: string | null): string {
  const text = scalarText(statusId) || scalarText(id);
  return text === jobId || text.length > MAX_ID_CHARS ? '' : text;
}

/** Equal for the same question of a job: by the id of its status and by its form. */
const questionIdOf = (job: Json, jobId: string | null): string =>
  hash('sha256', JSON.stringify([statusIdOf(job, jobId), job.input_schema ?? null, job.message ?? null]), 'base64url');

/** True while a job still shows the question that this call answers: the agent has not got to the answer. */
export function isAnswered({ answers }: Pick<AgentCall, 'answers'>, job: Json): boolean {
  const last = answers.at(-1);
  return last !== undefined && last.agentInputId === questionIdOf(job, last.handle);
}

/** True if the answer may be sent again: it names the status that it is for, so that it can be taken for no other question. */
export const isBound = (answer: GivenAnswer | undefined): boolean =>
  answer !== undefined && keptOf(answer).statusId !== '';

function groupsIn(schema: unknown): Group[] {
  const form = isObject(schema) ? schema : {};
  const given = Array.isArray(schema) ? schema : (form.input_groups ?? form.input_data);
  const listed = Array.isArray(given) ? given.filter(isObject) : [];
  const groups = listed.filter(({ input_data: fields }) => Array.isArray(fields));
  if (groups.length === 0) return listed.length === 0 ? [] : [{ id: null, title: '', fields: listed }];
  return groups.map(({ id, title, input_data: fields }, index) => ({
    id: scalarText(id) || `group-${index + 1}`,
    title: scalarText(title),
    fields: (fields as unknown[]).filter(isObject),
  }));
}

const nothingSaid = 'The agent asks for more input.';

/** The message of the job; else the texts of fields that are only shown, and the titles of groups. */
function messageOf(job: Json, groups: readonly Group[]): string {
  const said = scalarText(job.message);
  if (said !== '') return said;
  const shown = groups.flatMap(({ title, fields }) => [
    title,
    ...fields.filter((field) => typeOf(field) === 'none').map((field) => scalarText(dataOf(field).description)),
  ]);
  return shown.filter((text) => text !== '').join('\n') || nothingSaid;
}

const typeOf = ({ type }: Json): string => scalarText(type).toLowerCase();
const dataOf = ({ data }: Json): Json => (isObject(data) ? data : {});

/** Fields with a value that a caller gives. */
const isAsked = (field: Json): boolean =>
  typeof field.id === 'string' && field.id !== '' && typeOf(field) !== 'none' && typeOf(field) !== 'hidden';

function schemaOf({ title, fields }: Group): Json {
  const asked = fields.filter(isAsked);
  return {
    type: 'object',
    ...(title === '' ? {} : { title }),
    properties: Object.fromEntries(asked.map((field) => [field.id, propertyOf(field)])),
    required: [...new Set(asked.filter((field) => rulesOf(field).get('optional') !== 'true').map(({ id }) => id))],
  };
}

function hiddenIn({ fields }: Group): Json {
  const hidden = fields.filter((field) => typeOf(field) === 'hidden' && typeof field.id === 'string');
  return Object.fromEntries(hidden.map((field) => [field.id, dataOf(field).value ?? null]));
}

/** The validations of a field by name; the last one of a name counts. */
const rulesOf = ({ validations }: Json): ReadonlyMap<string, string> =>
  new Map(
    (Array.isArray(validations) ? validations.filter(isObject) : []).map(({ validation, value }) => [
      scalarText(validation),
      typeof value === 'boolean' ? `${value}` : scalarText(value),
    ]),
  );

const plainTexts = new Set(['string', 'text', 'textarea', 'search', 'tel', 'email', 'url']);
const formats: ReadonlyMap<string, string> = new Map([
  ['email', 'email'],
  ['url', 'uri'],
  ['file', 'uri'],
  ['date', 'date'],
  ['password', 'password'],
]);

function propertyOf(field: Json): Json {
  const { description } = dataOf(field);
  const about = {
    ...(scalarText(field.name) === '' ? {} : { title: scalarText(field.name) }),
    ...(scalarText(description) === '' ? {} : { description: scalarText(description) }),
  };
  return { ...typedOf(field), ...about };
}

function typedOf(field: Json): Json {
  const type = typeOf(field);
  const rules = rulesOf(field);
  const min = bound(rules.get('min') ?? dataOf(field).min);
  const max = bound(rules.get('max') ?? dataOf(field).max);
  switch (type) {
    case 'number':
    case 'range':
      return {
        type: rules.get('format') === 'integer' ? 'integer' : 'number',
        ...named('minimum', min),
        ...named('maximum', max),
      };
    case 'boolean':
    case 'checkbox':
      return { type: 'boolean' };
    case 'radio':
      return choiceOf(field);
    case 'option':
      return max === 1
        ? choiceOf(field)
        : { type: 'array', items: choiceOf(field), ...named('minItems', whole(min)), ...named('maxItems', whole(max)) };
    default: {
      const format = formats.get(type) ?? formats.get(rules.get('format') ?? '');
      const least = plainTexts.has(type) ? (whole(min) ?? (rules.get('format') === 'nonempty' ? 1 : null)) : null;
      const most = plainTexts.has(type) ? whole(max) : null;
      return {
        type: 'string',
        ...(format ? { format } : {}),
        ...named('minLength', least),
        ...named('maxLength', most),
      };
    }
  }
}

function choiceOf(field: Json): Json {
  const { values } = dataOf(field);
  const texts = (Array.isArray(values) ? values : []).map(scalarText).filter((text) => text !== '');
  return { type: 'string', ...(texts.length === 0 ? {} : { enum: [...new Set(texts)] }) };
}

/** null: no number. */
function bound(value: unknown): number | null {
  const text = scalarText(value);
  const number = Number(text);
  return text === '' || !Number.isFinite(number) ? null : number;
}

const whole = (number: number | null): number | null =>
  number !== null && Number.isInteger(number) && number >= 0 ? number : null;

const named = (name: string, value: number | null): Json => (value === null ? {} : { [name]: value });

const keptOf = ({ state }: GivenAnswer): Kept =>
  isObject(state) && isObject(state.hidden)
    ? (state as unknown as Kept)
    : { statusId: '', isGrouped: false, hidden: {} };

/** The body that brings an answer to a job. */
export function inputFor(answer: GivenAnswer, jobId: string): Json {
  const { statusId, isGrouped, hidden } = keptOf(answer);
  const given = answer.input ?? {};
  const ids = { job_id: jobId, ...(statusId === '' ? {} : { status_id: statusId }) };
  if (!isGrouped) return { ...ids, input_data: { ...given, ...hidden } };
  const groups = Object.entries(hidden).map(([id, values]) => {
    const input = Object.hasOwn(given, id) ? given[id] : {};
    return [id, { ...(isObject(input) ? input : {}), ...(isObject(values) ? values : {}) }];
  });
  return { ...ids, input_groups: Object.fromEntries(groups) };
}

const MAX_PROOF_CHARS = 500;

/** Kept with the question once its answer is taken: also the agent's hash and signature of it. */
export function proofOf(answer: GivenAnswer, reply: Json): Json {
  const texts = (['input_hash', 'signature'] as const).map((name) => [name, scalarText(reply[name])] as const);
  const sound = texts.filter(([, text]) => text !== '' && text.length <= MAX_PROOF_CHARS && text.isWellFormed());
  return { ...keptOf(answer), ...Object.fromEntries(sound) };
}
