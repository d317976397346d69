import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { InputRequest } from '@agent-network/contracts/invocations/turns';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import { type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server';
import { hasEnded } from '../../../calls/invocation.ts';
import { questionEvent } from '../../../calls/turns/read-answers.ts';
import { AppError } from '../../../lib/app-error.ts';
import { encode } from '../../answer/errors.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';
import { walletIn } from '../common/payment-names.ts';
import { readStarted, type Started, tokensOf } from '../common/purchase.ts';
import { answerOfResponse, elicitationsOf } from './elicitation.ts';
import { type AskedCall, invalidState, openState, sealState } from './request-state.ts';
import { paymentMeta } from './tool-result.ts';

/** A purchase that a call goes on with. */
export interface Resumed {
  readonly started: Started;
  /** Fault of the answer; null: none. */
  readonly problem: string | null;
  /** True when the client left the question open: it is not asked again. */
  readonly isLeft: boolean;
  /** The last event of the request before its answer. */
  readonly after: number;
}

/**
 * Goes on with the purchase that the `requestState` of a call names, and answers its question: such a call carries all its arguments again,
 * and buys nothing. null: a new call. Throws Invalid Params for a state of another call, and for answers without one.
 */
export async function resume(ctx: HttpContext, asked: AskedCall): Promise<Resumed | null> {
  const { mcpReq } = asked.call;
  const given = mcpReq.requestState?.();
  if (given === undefined) {
    if (mcpReq.inputResponses !== undefined) throw invalidState();
    return null;
  }
  const { requestId, inputId } = openState(ctx, asked, given);
  const before = await readStarted(ctx, asked.opened, requestId, tokensOfState(ctx, asked.opened, requestId));
  const question = (before.first.data as RequestRecord).inputRequest;
  const response = mcpReq.inputResponses?.[inputId];
  const isOpen = question?.inputId === inputId && response !== undefined;
  const after = await questionEvent(ctx, requestId, inputId);
  const outcome = isOpen ? await answer(ctx, asked.opened, { requestId, question, response }) : nothingWrong;
  const started = { ...before, ending: ctx.runner.ending(requestId), settlement: settlementOf(ctx, asked, before) };
  return { started, after, ...outcome };
}

const nothingWrong = { problem: null, isLeft: false };

/** The tokens of a request without a key: whoever has its state is its payer. */
const tokensOfState = (ctx: HttpContext, { caller }: GatewayRequest, requestId: string) =>
  caller.kind === 'anonymous' ? tokensOf(ctx, { id: requestId, inputTimeoutS: 1 }) : {};

interface Responded {
  readonly requestId: string;
  readonly question: InputRequest;
  readonly response: unknown;
}

async function answer(
  ctx: HttpContext,
  opened: GatewayRequest,
  responded: Responded,
): Promise<Pick<Resumed, 'problem' | 'isLeft'>> {
  const { requestId } = responded;
  const { answerToken } = tokensOfState(ctx, opened, requestId);
  try {
    return { problem: null, isLeft: !(await answerResponse(ctx, opened, responded, answerToken)) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'VALIDATION_ERROR') return { problem: error.message, isLeft: false };
    // Somebody else has answered, or the request has ended: its record tells.
    if (error.code === 'INPUT_ALREADY_ANSWERED' || error.code === 'INPUT_NOT_REQUIRED') return nothingWrong;
    throw error;
  }
}

/** Answers a question with a client's response to its elicitation. Returns false when that leaves the question open. */
export async function answerResponse(
  ctx: HttpContext,
  opened: GatewayRequest,
  { requestId, question, response }: Responded,
  answerToken?: string,
): Promise<boolean> {
  const answered = answerOfResponse(question, response);
  if (!answered) return false;
  await callEndpoint(ctx, opened, 'answerInput', {
    params: { requestId },
    headers: answerToken === undefined ? {} : { 'x-answer-token': answerToken },
    body: { inputId: question.inputId, ...answered },
  });
  return true;
}

/** The settlement of the payment that the call carries again, for `settlementAtEnd`; null: it was paid otherwise. */
function settlementOf(ctx: HttpContext, { opened, call }: AskedCall, { first }: Started): SettleResponse | null {
  const payer = walletIn(call.mcpReq._meta?.['x402/payment']);
  const { paymentMethod, paymentHash } = first.data as RequestRecord;
  if (payer === null || paymentMethod !== 'x402') return null;
  const network = ctx.chain.caip2;
  const settlement = { success: true, payer, transaction: paymentHash ?? '', network };
  // The transport of x402 for MCP is of version 2.
  opened.headers['payment-response'] = encode(settlement);
  return settlement;
}

/** The question of a request for the client of a call; null: the client can't be asked, or the request does not ask. */
export async function askedResult(
  ctx: HttpContext,
  asked: AskedCall,
  { record, problem, settlement }: Asked,
): Promise<InputRequiredResult | null> {
  const { requestId, agentId, status, inputRequest: question } = record;
  if (hasEnded(status) || question === undefined) return null;
  const inputRequests = await elicitationsOf(ctx, asked.call, { agentId, question, problem });
  if (!inputRequests) return null;
  const { inputId, expiresAt } = question;
  const requestState = sealState(ctx, asked, { requestId, inputId, expiresAt });
  return { ...inputRequired({ inputRequests, requestState }), ...paymentMeta(settlement) };
}

interface Asked {
  readonly record: RequestRecord;
  readonly problem: string | null;
  readonly settlement: SettleResponse | null;
}
