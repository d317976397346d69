import { z } from 'zod';
import { Id, JsonObject, plainText, Timestamp } from '../scalars.ts';

/** Longest wait for an answer, in seconds. */
export const MAX_INPUT_TIMEOUT_S = 86_400;
/** Wait for an answer of a call that names none, in seconds. */
export const DEFAULT_INPUT_TIMEOUT_S = 3600;
/** Questions that one call may ask; the next one ends it. */
export const MAX_QUESTIONS = 8;
/** Bytes of JSON of an answer's `input`. */
export const MAX_ANSWER_BYTES = 64 * 1024;

/** Fields of a call that may be asked back. */
export const interactiveFields = {
  interactive: z
    .boolean()
    .optional()
    .describe(
      'true: the agent may ask back. The request is then `input_required`, and waits for `POST /invoke/{requestId}/input`. Default: such a request fails with `agent_needs_input`.',
    ),
  inputTimeout: z
    .int()
    .min(1)
    .max(MAX_INPUT_TIMEOUT_S)
    .optional()
    .describe(
      `Seconds that a question waits for its answer; default ${DEFAULT_INPUT_TIMEOUT_S}. Needs \`interactive\`.`,
    ),
};

/** Adds a problem for a time to answer in of a call that is not asked. */
export function requireInteractive<T extends { interactive?: boolean | undefined; inputTimeout?: number | undefined }>(
  body: T,
  problems: z.core.$RefinementCtx,
): T {
  if (body.inputTimeout !== undefined && !body.interactive)
    problems.addIssue({ code: 'custom', path: ['inputTimeout'], message: 'needs interactive: true' });
  return body;
}

export const inputKinds = ['input', 'approval', 'link'] as const;

/** A question of the agent that waits for an answer. */
export const InputRequest = z.object({
  inputId: Id,
  turn: z.int().min(1).describe('1 for the first question.'),
  kind: z
    .enum(inputKinds)
    .describe(
      '`input`: information; `approval`: consent; `link`: accept once you are done at `url`. Show its host first.',
    ),
  message: z.string().describe('Written by the agent: text of a stranger.'),
  schema: JsonObject.optional().describe('JSON Schema of the `input` of the answer.'),
  url: z.string().optional().describe('https, on a public host. The node never opens it.'),
  createdAt: Timestamp,
  expiresAt: Timestamp.describe('Answer before.'),
});
export type InputRequest = z.infer<typeof InputRequest>;

export const inputActions = ['accept', 'decline'] as const;
export type InputAction = (typeof inputActions)[number];

/** A question of a request, answered or not. */
export const Turn = z.object({
  turn: z.int().min(1),
  message: z.string(),
  askedAt: Timestamp,
  answeredAt: Timestamp.nullable(),
  action: z.enum(inputActions).nullable().describe('null: it was not answered.'),
});
export type Turn = z.infer<typeof Turn>;

/** Fields of the record of an interactive request; others do not have them. */
export const turnFields = {
  turn: z.int().min(1).optional().describe('Of interactive requests: 1, one more with each answer.'),
  inputRequest: InputRequest.optional(),
  turns: z.array(Turn).optional().describe('All questions; removed with the contents.'),
};

/** Body of POST /invoke/{requestId}/input. */
export const InputAnswer = z.object({
  inputId: Id,
  action: z.enum(inputActions).describe('`decline`: the agent gets no answer, and may go on or fail.'),
  input: JsonObject.optional().describe(
    `Fits the schema of the question, where it has one. At most ${MAX_ANSWER_BYTES / 1024} KiB of JSON.`,
  ),
  message: plainText(4096).optional().describe('A text for the agent.'),
});
export type InputAnswer = z.output<typeof InputAnswer>;

/** By this a caller without an API key answers and cancels its request. */
export const answerHeaders = z.object({
  'x-answer-token': z
    .string()
    .regex(/^ana_[\w-]{43}$/, 'is not an answerToken')
    .optional()
    .describe('Without a key: the `answerToken` that came with the answer to the call.'),
});
