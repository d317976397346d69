import type { InvocationCreated, RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { InputRequest } from '@agent-network/contracts/invocations/turns';
import { USAGE_EXTENSION } from '@agent-network/contracts/invocations/usage';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import type { GivenAnswer } from '../../../calls/turns/read-answers.ts';
import type { FilesOf } from '../common/gateway-files.ts';
import { namedText, textOf } from '../common/text-of.ts';
import { ANSWER_TOKEN } from './a2a-call.ts';
import { paidMetadata } from './payments.ts';
import type { TaskState, WireArtifact, WireMessage, WirePart, WireStatus, WireTask } from './wire.ts';

/** Name of this node's extension of messages and tasks. */
export const INVOKE_EXTENSION = 'urn:agent-network:invoke';

/** Field of the metadata of a message with the question that it asks or answers. */
export const INPUT = 'urn:agent-network:input';

/** A request in any state, as REST shows it. */
export type TaskRecord = Pick<InvocationCreated, 'requestId' | 'status' | 'createdAt'> &
  Partial<RequestRecord> & { readonly resultToken?: string | undefined; readonly answerToken?: string | undefined };

/** A record as its reader gets it: a result is kept as JSON. */
export const plain = (record: RequestRecord): RequestRecord => JSON.parse(JSON.stringify(record));

/** Facts about a task that are not in its record. */
export interface TaskShape {
  /** These three are from the client's message; undefined: as the record has it. */
  readonly contextId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly text?: string | undefined;
  readonly settlement?: SettleResponse | null | undefined;
  /** Network of payments, by the name that clients use. */
  readonly network: string;
  readonly historyLength?: number | undefined;
  /** Default: true. */
  readonly withArtifacts?: boolean | undefined;
  /** Answers to the questions in the record, for the history; undefined: the history does not show them. */
  readonly answers?: readonly GivenAnswer[] | undefined;
  /** Names the files of a result with links; undefined: there is no result. */
  readonly filesOf?: FilesOf | undefined;
}

const states: Record<RequestRecord['status'], TaskState> = {
  pending: 'TASK_STATE_SUBMITTED',
  processing: 'TASK_STATE_WORKING',
  input_required: 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
};

/** A question that is not answered by information alone has a state of its own. */
const stateOf = ({ status, inputRequest }: Pick<TaskRecord, 'status' | 'inputRequest'>): TaskState =>
  inputRequest && inputRequest.kind !== 'input' ? 'TASK_STATE_AUTH_REQUIRED' : states[status];

/** The request status of a task state; undefined: none. */
export const statusOf = (state: TaskState): RequestRecord['status'] | undefined =>
  state === 'TASK_STATE_AUTH_REQUIRED'
    ? 'input_required'
    : (Object.keys(states) as RequestRecord['status'][]).find((status) => states[status] === state);

/** Field of the request's metadata that holds the context and the message of a task. */
const A2A = 'a2a';

interface KeptOfMessage {
  readonly contextId?: string | undefined;
  readonly messageId: string;
  readonly wantsText: boolean;
}

/** Parts of a message that are stored in the request's metadata. */
export const a2aMetadata = ({ contextId, messageId, wantsText }: KeptOfMessage) => ({
  [A2A]: { ...(contextId === undefined ? {} : { contextId }), messageId, ...(wantsText ? { wantsText } : {}) },
});

type WithMetadata = Pick<TaskRecord, 'metadata'>;

function kept({ metadata }: WithMetadata, name: keyof KeptOfMessage): unknown {
  const ours = metadata?.[A2A] as Readonly<Record<string, unknown>> | null | undefined;
  return typeof ours === 'object' ? ours?.[name] : undefined;
}

const named = (record: WithMetadata, name: 'contextId' | 'messageId'): string | undefined => {
  const value = kept(record, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

/** The context of a task that the client sent without one. */
export const contextOfId = (requestId: string) => `ctx_${requestId.replace(/^req_/, '')}`;

export const contextOf = (record: Pick<TaskRecord, 'requestId' | 'metadata'>): string =>
  named(record, 'contextId') ?? contextOfId(record.requestId);

/** A result, or a piece of one, as parts: the text that it names, and its data. For a client that takes text alone, any result has one. */
export function partsOf(result: unknown, wantsText = false): WirePart[] {
  if (typeof result === 'string') return [{ text: result }];
  const text = wantsText ? textOf(result) : namedText(result);
  return [...(text === null ? [] : [{ text }]), { data: result ?? null }];
}

export const resultArtifact = (
  record: Pick<TaskRecord, 'requestId' | 'status' | 'result' | 'metadata'>,
  { filesOf }: Pick<TaskShape, 'filesOf'>,
): WireArtifact => ({
  artifactId: 'result',
  name: 'result',
  parts: [
    ...partsOf(record.result, kept(record, 'wantsText') === true),
    ...(filesOf?.(record) ?? []).map(({ url, mediaType, name }) => ({
      url,
      ...(mediaType === null ? {} : { mediaType }),
      ...(name === null ? {} : { filename: name }),
    })),
  ],
});

/** A request as the task that it is. */
export function taskOf(record: TaskRecord, shape: TaskShape): WireTask {
  const { requestId } = record;
  const contextId = shape.contextId ?? contextOf(record);
  const { historyLength, withArtifacts = true } = shape;
  const isDone = record.status === 'completed';
  const asked = shape.text ?? record.task;
  const history =
    asked === undefined || historyLength === 0
      ? []
      : [askedMessage(record, contextId, shape, asked), ...turnMessages(record, contextId, shape)].slice(
          -(historyLength ?? 0),
        );
  return {
    id: requestId,
    contextId,
    status: taskStatus(record, contextId, shape),
    ...(isDone && withArtifacts ? { artifacts: [resultArtifact(record, shape)] } : {}),
    ...(history.length > 0 ? { history } : {}),
    metadata: {
      [INVOKE_EXTENSION]: ourPart(record),
      ...(record.answerToken === undefined ? {} : { [ANSWER_TOKEN]: record.answerToken }),
      ...usageMetadata(record).metadata,
    },
  };
}

/** The usage of a request, as metadata of its task, and of the event that it ends with. */
export const usageMetadata = ({ usage }: Pick<TaskRecord, 'usage'>) =>
  usage ? { metadata: { [USAGE_EXTENSION]: usage } } : {};

const askedMessage = (record: TaskRecord, contextId: string, shape: TaskShape, text: string): WireMessage => ({
  messageId: shape.messageId ?? named(record, 'messageId') ?? record.requestId,
  ...{ contextId, taskId: record.requestId, role: 'ROLE_USER', parts: [{ text }] },
});

/** The questions of a task that are not open any more, each with its answer. */
const turnMessages = (
  { requestId, turns = [], inputRequest }: TaskRecord,
  contextId: string,
  { answers }: TaskShape,
): WireMessage[] =>
  (answers ? turns : [])
    .filter(({ turn }) => turn !== inputRequest?.turn)
    .flatMap(({ turn, message }) => {
      const place = { contextId, taskId: requestId };
      const asked = { messageId: questionId(requestId, turn), role: 'ROLE_AGENT', parts: [{ text: message }] } as const;
      const given = answers?.find((answer) => answer.turn === turn);
      if (!given) return [{ ...place, ...asked }];
      const messageId = given.messageId ?? `${requestId}-answer-${turn}`;
      return [
        { ...place, ...asked },
        { ...place, messageId, role: 'ROLE_USER', parts: partsOfAnswer(given) },
      ];
    });

const questionId = (requestId: string, turn: number) => `${requestId}-question-${turn}`;

const partsOfAnswer = ({ action, input, note }: GivenAnswer): WirePart[] => [
  ...(note === null ? [] : [{ text: note }]),
  ...(action === 'decline' ? [{ data: { action } }] : note === null || input ? [{ data: input ?? {} }] : []),
];

/** The question that a task waits with. */
const questionMessage = (requestId: string, contextId: string, asked: InputRequest): WireMessage => {
  const { inputId, turn, message, url, schema, expiresAt } = asked;
  return {
    messageId: questionId(requestId, turn),
    ...{ contextId, taskId: requestId, role: 'ROLE_AGENT' },
    parts: [
      { text: message },
      ...(url === undefined ? [] : [{ url }]),
      ...(schema === undefined ? [] : [{ data: { schema } }]),
    ],
    metadata: { [INPUT]: { inputId, turn, expiresAt } },
  };
};

const ourPart = ({ cost, refund, paymentMethod, resultToken }: TaskRecord) => ({
  ...(typeof cost === 'string' ? { cost } : {}),
  ...(typeof refund === 'string' ? { refund } : {}),
  ...(paymentMethod === undefined ? {} : { paymentMethod }),
  // It reads this task: without a key nothing else does.
  ...(resultToken === undefined ? {} : { resultToken }),
});

/** Hint for a failed task: a payment names its task, so another one can't pay for it. */
const BUY_ANEW = ' To buy it again, send a message without taskId.';

/** The status of a task, with how it was paid and why it failed. */
export function taskStatus(record: TaskRecord, contextId: string, shape: TaskShape): WireStatus {
  const { requestId, status, error, refund, inputRequest } = record;
  if (inputRequest)
    return {
      state: stateOf(record),
      message: questionMessage(requestId, contextId, inputRequest),
      timestamp: inputRequest.createdAt,
    };
  const paid = paidMetadata(record, shape);
  const failed = status === 'failed' && error ? { code: error.code, refund: refund ?? null } : {};
  const metadata = { ...failed, ...paid };
  const text =
    status === 'failed' && error
      ? `${error.message} ${refund ?? '0.00'} USDC was refunded.${error.code === 'payment_failed' ? BUY_ANEW : ''}`
      : paid
        ? 'The payment is settled.'
        : null;
  return {
    state: states[status],
    ...(text === null ? {} : { message: statusMessage(requestId, contextId, text, metadata) }),
    timestamp: record.completedAt ?? record.turns?.at(-1)?.answeredAt ?? record.createdAt,
  };
}

export const statusMessage = (
  taskId: string,
  contextId: string,
  text: string,
  metadata: Readonly<Record<string, unknown>>,
): WireMessage => ({
  messageId: `${taskId}-status`,
  ...{ contextId, taskId, role: 'ROLE_AGENT', parts: [{ text }], metadata },
});
