import { hash } from 'node:crypto';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { HttpContext } from '../../request/http-context.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';
import { channelIn, walletIn } from '../common/payment-names.ts';
import type { ToolCallContext } from './call-context.ts';

const PURPOSE = 'mcp-request-state';
/** Lifetime of a state behind the expiry of its question: a late answer gets the record of the ended request. */
const LATE_MS = 3_600_000;
const MAX_CHARS = 2000;

/** A call that is asked: its repetition must be the same one of the same caller. */
export interface AskedCall {
  readonly opened: GatewayRequest;
  readonly call: ToolCallContext;
  readonly tool: string;
  /** The agent of the endpoint; null: the endpoint of all agents. */
  readonly agentId: string | null;
  readonly args: unknown;
}

/** The question that a call is asked. */
export interface AskedState {
  readonly requestId: string;
  readonly inputId: string;
  readonly expiresAt: string;
}

/** Without an API key the caller is the paying wallet, which its repetition names in the same payment. */
function principalOf({ opened: { caller }, call }: AskedCall): string {
  if (caller.kind !== 'anonymous') return JSON.stringify([caller.accountId, caller.kind === 'agent' && caller.agentId]);
  const payment = call.mcpReq._meta?.['x402/payment'];
  return `wallet ${walletIn(payment) ?? channelIn(payment) ?? ''}`;
}

const boundTo = (asked: AskedCall): string[] => [
  ...['tools/call', asked.tool, asked.agentId ?? '', principalOf(asked)],
  hash('sha256', canonicalJson(asked.args), 'base64url'),
];

/** The `requestState` of a question: it finds the request again, for this call of this caller alone. */
export function sealState({ secrets }: HttpContext, asked: AskedCall, state: AskedState): string {
  const { requestId, inputId, expiresAt } = state;
  const body = Buffer.from(JSON.stringify([requestId, inputId, Date.parse(expiresAt) + LATE_MS])).toString('base64url');
  return `${body}.${secrets.authenticate(PURPOSE, [...boundTo(asked), body])}`;
}

/** Reads a `requestState`. Throws Invalid Params for one that this node did not make for this call. */
export function openState(
  { secrets, clock }: HttpContext,
  asked: AskedCall,
  given: string,
): Pick<AskedState, 'requestId' | 'inputId'> {
  const [body = '', code = '', ...more] = given.length > MAX_CHARS ? [] : given.split('.');
  if (more.length > 0 || !secrets.isAuthentic(PURPOSE, [...boundTo(asked), body], code)) throw invalidState();
  const [requestId, inputId, untilMs] = JSON.parse(Buffer.from(body, 'base64url').toString());
  if (untilMs < clock.now().getTime()) throw invalidState();
  return { requestId, inputId };
}

/** The error with which the SDK refuses a state. */
export const invalidState = (): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });
