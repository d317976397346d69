import { isObject, type Json } from '../../../lib/json/json-object.ts';
import type { AgentOutcome } from '../../invocation.ts';
import type { GivenAnswer } from '../../turns/turn-store.ts';
import type { AgentCall } from '../adapter.ts';
import { failed, readAsked } from '../agent-answer.ts';

/** Requests that one question may consist of. */
const MAX_REQUESTS = 20;

export const needsInput = failed('agent_needs_input', 'The agent asked for more input, which a call does not have.');
const severalLinks = failed('agent_needs_input', 'The agent asked for acts at several links at once.');
const invalid = (what: string) => failed('invalid_response', `The agent asked a question ${what}.`);

/** Requests of a server for input, by their keys. */
type Requests = readonly (readonly [string, Json])[];

const paramsOf = ({ params }: Json): Json => (isObject(params) ? params : {});
const isLink = (request: Json): boolean => paramsOf(request).mode === 'url';

/** Kept with a question, to make the answers to its requests. */
interface Kept {
  /** The keys of the requests; true: of a link. */
  readonly keys: Readonly<Record<string, boolean>>;
  /** Opaque to this node; absent: the server gave none, or it is a task. */
  readonly requestState?: string;
}

/**
 * Several requests as one question: its schema has a property for each key; that of a single request is its own. A failure where the call is
 * not asked, the server wants something else than its user's input, or the question can't be shown.
 */
export function questionOf(
  { invocation }: Pick<AgentCall, 'invocation'>,
  { inputRequests, requestState }: Json,
  handle: string | null,
): AgentOutcome {
  if (invocation.inputTimeoutS === null) return needsInput;
  const all = isObject(inputRequests) ? Object.entries(inputRequests) : [];
  const requests = all.filter((each): each is [string, Json] => isObject(each[1]));
  if (all.length > MAX_REQUESTS) return invalid(`of more than ${MAX_REQUESTS} requests`);
  if (requests.length < all.length || requests.length === 0) return invalid('without requests');
  if (requests.some(([, { method }]) => method !== 'elicitation/create')) return needsInput;
  if (requestState !== undefined && typeof requestState !== 'string') return invalid('with a state that is no text');
  const links = requests.filter(([, request]) => isLink(request));
  if (links.length > 1) return severalLinks;
  const schema = schemaOf(requests);
  const [link] = links;
  const input = {
    message: requests.map(([, request]) => paramsOf(request).message).join('\n\n'),
    ...(schema === undefined ? {} : { schema }),
    ...(link ? { url: paramsOf(link[1]).url ?? '' } : {}),
  };
  const keys = Object.fromEntries(requests.map(([key, request]) => [key, isLink(request)]));
  const state: Kept = { keys, ...(requestState === undefined ? {} : { requestState }) };
  const asked = readAsked({ input, state });
  return asked.kind === 'asks' ? { ...asked, handle } : asked;
}

/** undefined: no request has a form. */
function schemaOf(requests: Requests): unknown {
  const forms = requests.filter(([, request]) => !isLink(request)).map(([key, each]) => [key, paramsOf(each)] as const);
  const [only] = forms;
  if (!only || requests.length === 1) return only?.[1].requestedSchema;
  const properties = forms.map(([key, { message, requestedSchema }]) => [
    key,
    { ...(isObject(requestedSchema) ? requestedSchema : {}), description: message },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties), required: forms.map(([key]) => key) };
}

const keptOf = ({ state }: GivenAnswer): Kept =>
  isObject(state) && isObject(state.keys) ? (state as unknown as Kept) : { keys: {} };

/** The parameters that bring the last answer: one for each request of its question. */
export function responsesTo(answer: GivenAnswer): Json {
  const { keys, requestState } = keptOf(answer);
  const names = Object.keys(keys);
  const input = answer.input ?? {};
  const contentOf = (key: string) => (names.length === 1 ? input : Object.hasOwn(input, key) ? input[key] : {});
  const responses = names.map((key) => {
    if (answer.action === 'decline') return [key, { action: 'decline' }];
    return [key, { action: 'accept', ...(keys[key] ? {} : { content: contentOf(key) }) }];
  });
  return { inputResponses: Object.fromEntries(responses), ...(requestState === undefined ? {} : { requestState }) };
}

/** The keys of the requests that have been answered. In a task each is used once. */
export const answeredKeys = (answers: readonly GivenAnswer[]): Set<string> =>
  new Set(answers.flatMap((each) => Object.keys(keptOf(each).keys)));
