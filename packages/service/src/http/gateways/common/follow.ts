import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { KnownCaller } from '../../../accounts/caller.ts';
import type { Invocation } from '../../../calls/invocation.ts';
import { toRecord } from '../../../calls/invocation-view.ts';
import { readInvocation, requireOwn } from '../../../calls/read-invocation.ts';
import { awaitEnd, type Wait } from '../../../calls/stream/await-end.ts';
import { readStream, type StreamEvent } from '../../../calls/stream/read-stream.ts';
import { encodeJson } from '../../../lib/json/prepared-json.ts';
import type { HttpContext } from '../../request/http-context.ts';
import type { Answered } from './call-endpoint.ts';

export interface Following extends Wait {
  /** Called with each event of the request while it is awaited. */
  readonly tell?: ((event: StreamEvent) => Promise<void> | void) | undefined;
  /** The last event that the caller has; undefined: none. */
  readonly after?: number | undefined;
}

/**
 * The record of a request of the caller, when it has ended or the wait is over. The work continues without a reader, and its result is
 * stored.
 */
export async function follow(
  ctx: HttpContext,
  caller: KnownCaller,
  requestId: string,
  { tell, after = 0, ...wait }: Following,
  ending?: Promise<Invocation> | null,
): Promise<Answered<RequestRecord>> {
  try {
    const isWaiting = wait.waitMs > 0;
    if (tell && isWaiting) await tellUntil(ctx, requestId, { ...wait, after }, tell);
    const ended = !tell && isWaiting ? await awaitEnd(ctx, requestId, wait, ending ?? undefined) : null;
    const record = ended ? toRecord(requireOwn(ended, caller)) : await readInvocation(ctx, caller, requestId);
    const json = encodeJson(record).toString();
    return { data: JSON.parse(json), json };
  } finally {
    ctx.runner.detach(requestId);
  }
}

async function tellUntil(
  ctx: HttpContext,
  requestId: string,
  { waitMs, signal, after }: Wait & { readonly after: number },
  tell: (event: StreamEvent) => Promise<void> | void,
): Promise<void> {
  const over = AbortSignal.any([AbortSignal.timeout(Math.ceil(waitMs)), signal]);
  for await (const event of readStream(ctx, requestId, after, over)) {
    if (over.aborted) return;
    await tell(event);
  }
}

/** The longest wait of an answer for the end of its call: longer than the default deadline of any. */
export const MAX_WAIT_MS = 15 * 60_000;
