import { isObject, type Json } from './backend.ts';

/** The JSON-RPC forms of one version of A2A. */
export interface A2aDialect {
  readonly headers: Readonly<Record<string, string>>;
  readonly methods: { readonly send: string; readonly get: string; readonly cancel: string };
  /** Params of a message that is answered with the task at once: a cancellation needs its id. `input`: null without any. */
  paramsOf(requestId: string, text: string, input: unknown): Json;
  /** The message or the task of an answer. */
  said(result: Json): { readonly message: Json | null; readonly task: unknown };
  /** The state of a task, as 1.0 names it. */
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
export function readA2aInterface(card: Json, origin: string): { url: URL; dialect: A2aDialect } | null {
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
