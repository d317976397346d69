import { AgentError } from './agent-error.ts';
import type { CallerAnswer } from './ask.ts';

export interface Verification {
  readonly kind: 'verification';
  readonly agentId: string;
  readonly challenge: string;
}

/** A node's call to an agent (docs/design.md, section 4, "agent contract: call"). */
export interface CallContent {
  readonly kind: 'call';
  readonly requestId: string;
  readonly agentId: string;
  readonly task: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The capability that the call names; its types are those of the call, where the agent declares some. */
  readonly capability: string | null;
  readonly context: string | null;
  readonly priority: 'low' | 'normal' | 'high';
  readonly deadline: Date | null;
  /** Maximum charge, in USDC. */
  readonly maxSpend: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** True if the caller can be asked: see `ask`. */
  readonly interactive: boolean;
  /** 1, and one more with each answer of the caller. */
  readonly turn: number;
  /** The answers to all questions so far, first to last. */
  readonly answers: readonly CallerAnswer[];
  /** The state that the last `ask` was given; null: none. */
  readonly state: unknown;
  /** True if the caller follows the work: each yielded value is sent at once. */
  readonly isStreamed: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function requiredText(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new AgentError('invalid_request', `${name} is missing`, 400);
  return value;
}

const optionalText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function parseDeadline(value: unknown): Date | null {
  const at = new Date(optionalText(value) ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? null : at;
}

function parseJson(body: Uint8Array): Fields {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (isRecord(value)) return value;
  } catch (cause) {
    throw new AgentError('invalid_request', `the body is not JSON: ${String(cause)}`, 400);
  }
  throw new AgentError('invalid_request', 'the body is not a JSON object', 400);
}

const toAnswer = ({ id, action, input, message }: Fields): CallerAnswer => ({
  ...{ id: optionalText(id), action: action === 'accept' ? 'accept' : 'decline', input: isRecord(input) ? input : {} },
  ...(typeof message === 'string' ? { message } : {}),
});

/** Parses a node's POST body. Unknown fields are ignored; throws `AgentError` with status 400 when a required one is missing. */
export function parseCall(body: Uint8Array): Verification | CallContent {
  const fields = parseJson(body);
  const agentId = requiredText(fields, 'agent_id');
  if (fields.type === 'verification')
    return { kind: 'verification', agentId, challenge: requiredText(fields, 'challenge') };
  const { priority, input, metadata } = fields;
  return {
    kind: 'call',
    requestId: requiredText(fields, 'request_id'),
    agentId,
    task: requiredText(fields, 'task'),
    input: isRecord(input) ? input : {},
    capability: optionalText(fields.capability),
    context: optionalText(fields.context),
    priority: priority === 'low' || priority === 'high' ? priority : 'normal',
    deadline: parseDeadline(fields.deadline),
    maxSpend: optionalText(fields.max_spend),
    metadata: isRecord(metadata) ? metadata : {},
    interactive: fields.interactive === true,
    turn: typeof fields.turn === 'number' ? fields.turn : 1,
    answers: Array.isArray(fields.answers) ? fields.answers.filter(isRecord).map(toAnswer) : [],
    state: fields.state ?? null,
    isStreamed: fields.stream === true,
  };
}
