import type { PaymentRequiredV1, PaymentRequiredV2 } from '@agent-network/contracts/payments/x402';
import type { Context } from 'hono';
import { PaymentRequiredError } from '../../../payments/x402/payment-required.ts';
import { commonHeaders } from '../../answer/common-headers.ts';
import { toErrorAnswer } from '../../answer/errors.ts';
import { sseHeaders } from '../../answer/sse.ts';
import { logFailure, toBody } from '../../api/mount.ts';
import type { HttpContext } from '../../request/http-context.ts';

/** An error as REST answers it, for a gateway to put into its own shape. */
export interface GatewayError {
  /** The HTTP status that REST answers it with. */
  readonly status: number;
  /** Further headers: `retry-after`, and those of a 402. */
  readonly headers: Readonly<Record<string, string>>;
  /** `code`, `message`, `requestId` and the fields of the code. */
  readonly error: Readonly<Record<string, unknown>> & { readonly code: string; readonly message: string };
  /** The terms of a 402; null for other errors. */
  readonly offer: PaymentRequiredV2 | null;
  /** The terms of a 402 for clients of x402 version 1, which read them from the body. */
  readonly termsV1: PaymentRequiredV1 | null;
}

/** Maps an error, and logs those that are the node's own. `route` names the gateway in the log. */
export function gatewayErrorOf(ctx: HttpContext, route: string, requestId: string, error: unknown): GatewayError {
  const { status, headers, body } = toErrorAnswer(error, requestId);
  if (status >= 500) logFailure(ctx, route, requestId, error);
  const offer = error instanceof PaymentRequiredError ? error.offer : null;
  const terms = { offer: offer?.v2 ?? null, termsV1: offer?.v1 ?? null };
  return { status, headers, error: body.error as GatewayError['error'], ...terms };
}

/** An answer of a gateway in JSON. */
export function gatewayJson(
  ctx: HttpContext,
  c: Context,
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly json: string },
): Response {
  const headers = { ...commonHeaders, 'content-type': 'application/json', ...answer.headers };
  return new Response(toBody(ctx, c, answer.json, headers), { status: answer.status, headers });
}

/** A stream of a gateway as its answer. */
export const gatewayStream = (body: ReadableStream<Uint8Array>, headers: Readonly<Record<string, string>>): Response =>
  new Response(body, { status: 200, headers: { ...commonHeaders, ...headers, ...sseHeaders } });
