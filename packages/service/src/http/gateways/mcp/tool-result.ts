import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { type CallUsage, USAGE_EXTENSION } from '@agent-network/contracts/invocations/usage';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { HttpContext } from '../../request/http-context.ts';
import type { Answered } from '../common/call-endpoint.ts';
import { gatewayErrorOf } from '../common/gateway-error.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';

interface ResultParts {
  readonly isError?: boolean;
  readonly settlement?: SettleResponse | null;
  readonly usage?: CallUsage | null;
}

/** A result: its data, and the same as text for clients that show only that. */
export const toolResult = (
  { data, json }: Answered<unknown>,
  { isError = false, settlement = null, usage = null }: ResultParts = {},
): CallToolResult => {
  const _meta = {
    ...(settlement ? { 'x402/payment-response': settlement } : {}),
    ...(usage ? { [USAGE_EXTENSION]: usage } : {}),
  };
  return {
    content: [{ type: 'text', text: json }],
    structuredContent: data as Record<string, unknown>,
    ...(isError ? { isError } : {}),
    ...(Object.keys(_meta).length > 0 ? { _meta } : {}),
  };
};

const structured = (data: Record<string, unknown>, isError: boolean): CallToolResult =>
  toolResult({ data, json: JSON.stringify(data) }, { isError });

/** An error of this node. The terms of a 402 are the whole content, as in x402's transport for MCP. */
export function toolError(ctx: HttpContext, opened: GatewayRequest, tool: string, thrown: unknown): CallToolResult {
  const { error, offer } = gatewayErrorOf(ctx, `mcp ${tool}`, opened.requestId, thrown);
  if (!offer) return structured({ error }, true);
  return structured({ ...offer, resource: { ...offer.resource, url: `mcp://tool/${tool}` } }, true);
}

/** The record of an invocation that this call made: the call failed if the request did. */
export const invocationResult = (
  answered: Answered<Pick<RequestRecord, 'status' | 'usage'>>,
  settlement: SettleResponse | null,
): CallToolResult =>
  toolResult(answered, {
    isError: ['failed', 'cancelled'].includes(answered.data.status),
    settlement,
    usage: answered.data.usage ?? null,
  });

/** The record of an invocation that somebody asked for: it was read, whatever it says. */
export const recordResult = (answered: Answered<Pick<RequestRecord, 'usage'>>): CallToolResult =>
  toolResult(answered, { usage: answered.data.usage ?? null });
