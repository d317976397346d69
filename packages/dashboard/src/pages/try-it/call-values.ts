import { alteredNumber, alteredProblem } from '@agent-network/contracts/altered-number';
import type { Api } from '@agent-network/contracts/api';
import type { Call } from '@agent-network/contracts/endpoint';
import type { Priority } from '@agent-network/contracts/invocations/invocations';
import type { Quote } from '@agent-network/contracts/invocations/quotes';

export type CallBody = Call<Api['invokeAgent']>['body'];

const modes = ['stream', 'sync', 'async'] as const;
export type Mode = (typeof modes)[number];

/** Input for an agent, as typed. */
export interface InputValues {
  /** JSON, or nothing. */
  readonly input: string;
  /** Fields of the input with unfinished JSON, as typed, by path. */
  readonly drafts: Readonly<Record<string, string>>;
}

/** The form of a call, with all values as typed. */
export interface CallValues extends InputValues {
  readonly task: string;
  /** One of the agent's capabilities, or '' for the agent as a whole. */
  readonly capability: string;
  readonly mode: Mode;
  readonly priority: Priority;
  /** Seconds from when it is made; '': as the node has it. */
  readonly deadlineS: string;
  readonly fallback: boolean;
}

export const emptyCall: CallValues = {
  task: '',
  input: '{}',
  drafts: {},
  capability: '',
  mode: 'stream',
  priority: 'normal',
  deadlineS: '',
  fallback: false,
};

type Parsed = { readonly value: unknown } | { readonly problem: string };

/** Parses typed JSON; empty text is an empty object. A number that the agent would get changed is a problem. */
export function parseJson(text: string): Parsed {
  if (text.trim() === '') return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    const altered = alteredNumber(text);
    return altered ? { problem: `${altered.path} ${alteredProblem(altered)}`.trim() } : { value };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'is not valid JSON' };
  }
}

/** The input as a body of the API. One that is no JSON, or has a field that is none, is a text, which the schema refuses. */
export function inputOf({ input, drafts }: InputValues): Record<string, unknown> {
  const isFinished = Object.keys(drafts).length === 0;
  const parsed = isFinished ? parseJson(input) : { problem: 'is incomplete' };
  return ('value' in parsed ? parsed.value : input) as Record<string, unknown>;
}

/** The form as a body of the API, at most for this amount. */
export function callBody(values: CallValues, nowMs: number, maxCost?: string): CallBody {
  const input = inputOf(values);
  const isEmpty = typeof input === 'object' && input !== null && Object.keys(input).length === 0;
  return {
    task: values.task,
    ...(isEmpty ? {} : { input }),
    ...(values.capability === '' ? {} : { capability: values.capability }),
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(values.priority === 'normal' ? {} : { priority: values.priority }),
    ...(values.deadlineS === '' ? {} : { deadline: new Date(nowMs + Number(values.deadlineS) * 1000).toISOString() }),
    ...(values.fallback ? { fallback: true } : {}),
  };
}

/**
 * The quote of a call as a query. It is dropped when the form changes: a quote can be used once, and one restored with an earlier text may
 * have been used since.
 */
export const quoteQuery = (agentId: string, call: string, ask: () => Promise<Quote>) => ({
  queryKey: ['quote of a call', agentId, call],
  queryFn: ask,
  retry: false,
  gcTime: 0,
});
