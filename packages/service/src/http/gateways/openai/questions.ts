import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { InputAnswer, InputRequest } from '@agent-network/contracts/invocations/turns';
import { isAtRest } from '../../../calls/invocation.ts';
import type { ToolCall } from '../../../calls/protocols/openai/openai-result.ts';
import { findAsked, questionEvent } from '../../../calls/turns/read-answers.ts';
import { notFound } from '../../../lib/app-error.ts';
import { isObject, type Json, parseJsonText } from '../../../lib/json/json-object.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { type Answered, callEndpoint } from '../common/call-endpoint.ts';
import { answerOfText } from '../common/flat-input.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';

/** Name of the tool that opts a caller in. Each question is a call of it. */
const AGENT_INPUT = 'agent_input';

/** A question as a call of that tool; the id of the call is that of the question. */
export const questionCall = ({ inputId, message, schema, url }: InputRequest): ToolCall => ({
  ...{ id: inputId, type: 'function' },
  function: {
    name: AGENT_INPUT,
    arguments: JSON.stringify({ message, ...(schema ? { schema } : {}), ...(url === undefined ? {} : { url }) }),
  },
});

const isAgentInput = (tool: unknown): boolean =>
  isObject(tool) && (tool.name === AGENT_INPUT || (isObject(tool.function) && tool.function.name === AGENT_INPUT));

/** The parameters of a request for its agent, without those that are for the node; and whether its caller may be asked. */
export function withoutAgentInput({ interactive, ...parameters }: Json): {
  readonly parameters: Json;
  readonly isInteractive: boolean;
} {
  const { tools, tool_choice, ...rest } = parameters;
  if (!Array.isArray(tools) || !tools.some(isAgentInput)) return { parameters, isInteractive: interactive === true };
  const left = tools.filter((tool) => !isAgentInput(tool));
  const choice = tool_choice === undefined || isAgentInput(tool_choice) ? {} : { tool_choice };
  return { parameters: left.length === 0 ? rest : { ...rest, tools: left, ...choice }, isInteractive: true };
}

const INPUT_ID = /^inp_[0-9a-z]{26}$/;

/** An answer to a question, as a caller sent it. */
export interface SentAnswer {
  readonly inputId: string;
  readonly text: string;
}

/** A result of a tool as an answer; null: it is that of another tool. */
export const sentAnswer = (callId: unknown, text: string): SentAnswer | null =>
  typeof callId === 'string' && INPUT_ID.test(callId) ? { inputId: callId, text } : null;

/** A request with its question answered. */
export interface AnsweredRequest {
  readonly record: Answered<RequestRecord>;
  /** True when the question had this answer already, and the request has gone on. */
  readonly isRepeated: boolean;
  /** The last event of the request before the answer. */
  readonly after: number;
}

/**
 * Sends an answer to the request that waits for it, which buys nothing. Throws NOT_FOUND for a question of another caller, and the errors of
 * the endpoint for one that is not open or an answer that does not fit.
 */
export async function answerQuestion(
  ctx: HttpContext,
  opened: GatewayRequest,
  { inputId, text }: SentAnswer,
): Promise<AnsweredRequest> {
  const asked = await findAsked(ctx, { inputId });
  if (!asked) throw notFound('question');
  const { requestId, question } = asked;
  const after = await questionEvent(ctx, requestId, inputId);
  const body = { inputId, ...answerOf(question.schema, text) };
  const record = await callEndpoint(ctx, opened, 'answerInput', { params: { requestId }, body });
  return { record, isRepeated: isAtRest(record.data.status), after };
}

/** A JSON object is the input, `{"action": "decline"}` a refusal; any other text as the schema takes it. Some clients quote texts. */
function answerOf(schema: InputRequest['schema'], text: string): Omit<InputAnswer, 'inputId'> {
  const input = parsedOrText(text);
  if (!isObject(input)) return answerOfText(schema, typeof input === 'string' ? input : text);
  const isDecline = input.action === 'decline' && Object.keys(input).length === 1;
  return isDecline ? { action: 'decline' } : { action: 'accept', input };
}

function parsedOrText(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return text;
  }
}

/** The id of the response of the current turn: that of the request, with the turn from the second on. */
export const responseIdOf = ({ requestId, turn = 1 }: Pick<RequestRecord, 'requestId' | 'turn'>): string =>
  turn === 1 ? requestId : `${requestId}-${turn}`;

/** The request and the turn of a response. */
export function requestOfResponse(responseId: string): { readonly requestId: string; readonly turn: number } {
  const [, requestId = responseId, turn = '1'] = /^(.+)-([2-9])$/.exec(responseId) ?? [];
  return { requestId, turn: Number(turn) };
}
