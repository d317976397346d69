import { setTimeout as wait } from 'node:timers/promises';
import { CommandError } from '../exit-codes.ts';
import { type Backend, hasInput, isObject, type Json, textOf } from './backend.ts';
import { below, Endpoint, failed, type Headers, readJson } from './endpoint-client.ts';

const CHECK_MS = 10_000;
const CANCEL_MS = 5000;
const [FIRST_POLL_MS, MAX_POLL_MS] = [50, 2000];

/** An agent of A2A 1.0 or 0.3 over JSON-RPC. Throws `CommandError` if its card has no such interface at its origin. */
export async function a2aBackend(base: URL, headers: Headers): Promise<Backend> {
  const endpoint = new Endpoint(headers);
  const { url, dialect } = await readInterface(endpoint, base);
  const ask = async (id: string, method: string, params: Json, signal: AbortSignal): Promise<Json> => {
    const body = { jsonrpc: '2.0', id, method, params };
    const response = await endpoint.send(url, { body, headers: dialect.headers, signal });
    const { result, error } = await readJson(response, signal);
    if (isObject(result)) return result;
    throw failed(`The endpoint refused the call${endpoint.reasonOf(error)}.`);
  };
  const cancelling = new Set<Promise<unknown>>();
  /** Not awaited by the call, which has ended. */
  const cancel = (requestId: string, id: string) => {
    const sent = ask(requestId, dialect.methods.cancel, { id }, AbortSignal.timeout(CANCEL_MS))
      .catch(() => undefined)
      .finally(() => cancelling.delete(sent));
    cancelling.add(sent);
  };
  return {
    async run(call) {
      const { requestId, signal } = call;
      const params = dialect.paramsOf(requestId, textOf(call), hasInput(call) ? call.input : null);
      const said = dialect.said(await ask(requestId, dialect.methods.send, params, signal));
      if (said.message) return resultOf([said.message]);
      let task = taskOf(dialect, said.task);
      try {
        for (let pauseMs = FIRST_POLL_MS; isRunning(task); pauseMs = Math.min(2 * pauseMs, MAX_POLL_MS)) {
          await wait(pauseMs, undefined, { signal });
          task = taskOf(dialect, await ask(requestId, dialect.methods.get, { id: task.id }, signal));
        }
      } catch (error) {
        if (signal.aborted) cancel(requestId, task.id);
        signal.throwIfAborted();
        throw error;
      }
      return endOf(endpoint, task);
    },
    close: async () => void (await Promise.all(cancelling)),
  };
}

async function readInterface(endpoint: Endpoint, base: URL): Promise<{ url: URL; dialect: A2aDialect }> {
  const signal = AbortSignal.timeout(CHECK_MS);
  const url = base.pathname.endsWith('.json') ? base : below(base, '.well-known/agent-card.json');
  const card = await endpoint
    .send(url, { signal })
    .then((response) => readJson(response, signal))
    .catch((error: unknown): never => {
      throw new CommandError(
        `The agent card, ${url.pathname}: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
  const found = readA2aInterface(card, base.origin);
  if (!found) throw new CommandError('The agent card has no JSON-RPC interface of A2A 1.0 or 0.3 at its own origin.');
  return found;
}

interface Task {
  readonly id: string;
  readonly state: string;
  readonly message: Json | null;
  readonly artifacts: readonly Json[];
}

function taskOf(dialect: A2aDialect, value: unknown): Task {
  if (!isObject(value) || typeof value.id !== 'string' || !isObject(value.status))
    throw failed('The endpoint answered without a task.');
  const { state, message } = value.status;
  return {
    id: value.id,
    state: dialect.stateOf(String(state)),
    message: isObject(message) ? message : null,
    artifacts: Array.isArray(value.artifacts) ? value.artifacts.filter(isObject) : [],
  };
}

const isRunning = ({ state }: Task) => state === 'TASK_STATE_SUBMITTED' || state === 'TASK_STATE_WORKING';

function endOf(endpoint: Endpoint, { state, message, artifacts }: Task): Json {
  if (state === 'TASK_STATE_COMPLETED') return resultOf(artifacts.length > 0 || !message ? artifacts : [message]);
  const text = message ? endpoint.reasonOf(resultOf([message]).text) : '';
  if (state === 'TASK_STATE_INPUT_REQUIRED')
    throw failed(
      `The agent needs more information${text.replace(/^: (.*)$/s, ': "$1"')}. Calls can't answer follow-up questions; put it in the task.`,
    );
  if (state === 'TASK_STATE_AUTH_REQUIRED') throw failed(`The agent requires authentication${text}.`);
  throw failed(`The agent did not complete the task${text}.`);
}

/** The result in the parts: a single part of data; else the texts; else the parts. */
function resultOf(holders: readonly Json[]): Json {
  const parts = holders.flatMap(({ parts: each }) => (Array.isArray(each) ? each.filter(isObject) : []));
  const data = parts.map((part) => part.data).filter(isObject);
  if (data.length === 1 && data[0]) return data[0];
  const texts = parts.map((part) => part.text).filter((text) => typeof text === 'string');
  return texts.length === parts.length ? { text: texts.join('\n') } : { parts };
}

/** The JSON-RPC forms of one version of A2A. */
interface A2aDialect {
  readonly headers: Readonly<Record<string, string>>;
  readonly methods: { readonly send: string; readonly get: string; readonly cancel: string };
  /** Params of a message that asks for its task at once, as a cancellation needs its id. `input`: null without any. */
  paramsOf(requestId: string, text: string, input: unknown): Json;
  /** The message or the task of an answer. */
  said(result: Json): { readonly message: Json | null; readonly task: unknown };
  /** The state of a task, by its name in 1.0. */
  stateOf(state: string): string;
}

const v1: A2aDialect = {
  headers: { 'a2a-version': '1.0' },
  methods: { send: 'SendMessage', get: 'GetTask', cancel: 'CancelTask' },
  paramsOf(messageId, text, input) {
    const parts = [{ text }, ...(input === null ? [] : [{ data: input }])];
    return { message: { messageId, role: 'ROLE_USER', parts }, configuration: { returnImmediately: true } };
  },
  said: ({ message, task }) => ({ message: isObject(message) ? message : null, task }),
  stateOf: (state) => state,
};

const v03: A2aDialect = {
  headers: {},
  methods: { send: 'message/send', get: 'tasks/get', cancel: 'tasks/cancel' },
  paramsOf(messageId, text, input) {
    const parts = [{ kind: 'text', text }, ...(input === null ? [] : [{ kind: 'data', data: input }])];
    return { message: { kind: 'message', messageId, role: 'user', parts }, configuration: { blocking: false } };
  },
  said: (result) => (result.kind === 'message' ? { message: result, task: null } : { message: null, task: result }),
  stateOf: (state) => `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}`,
};

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The JSON-RPC interface of a card at this origin: of 1.0, else of 0.3. */
function readA2aInterface(card: Json, origin: string): { url: URL; dialect: A2aDialect } | null {
  const newer = list(card.supportedInterfaces)
    .filter(({ protocolBinding }) => protocolBinding === 'JSONRPC')
    .map(({ protocolVersion, url }) => ({ version: String(protocolVersion), url: String(url) }));
  // Cards of 0.3 name one address, and others beside it.
  const main = { transport: card.preferredTransport ?? 'JSONRPC', url: card.url };
  const older = [main, ...list(card.additionalInterfaces)]
    .filter(({ transport }) => transport === 'JSONRPC')
    .map(({ url }) => ({ version: String(card.protocolVersion), url: String(url) }));
  const here = [...newer, ...older].filter(({ url }) => URL.canParse(url) && new URL(url).origin === origin);
  for (const [prefix, dialect] of [
    ['1.', v1],
    ['0.3', v03],
  ] as const) {
    const found = here.find(({ version }) => version.startsWith(prefix));
    if (found) return { url: new URL(found.url), dialect };
  }
  return null;
}
