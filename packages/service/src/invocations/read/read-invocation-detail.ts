import type { RequestDetail, RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import { type PreparedJson, prepareJson } from '../../lib/json/prepared-json.ts';
import { movementsOf } from '../../payments/statements/movements-of.ts';
import { toRecord } from '../invocation-view.ts';
import { requireOwn } from '../read-invocation.ts';
import { findContent } from '../record-store.ts';
import { timelineOf } from './timeline.ts';

/** A request of the caller with its input and timeline. Two look-ups by id. */
export async function readInvocationDetail(
  ctx: HasDb,
  caller: KnownCaller,
  requestId: string,
): Promise<RequestRecord & { detail: PreparedJson }> {
  const invocation = requireOwn(await findContent(ctx.db, requestId), caller);
  const { input, context, webhookUrl, isStreamed, startedAt, callerAgentId, priceMicro, attempt } = invocation;
  const timeline = timelineOf(invocation, await movementsOf(ctx, requestId));
  const detail: Omit<RequestDetail, 'input'> & { input: PreparedJson } = {
    ...{ input, context, webhookUrl, callerAgentId, timeline },
    streamed: isStreamed,
    startedAt: startedAt?.toISOString() ?? null,
    price: formatUsdc(priceMicro),
    attempts: attempt,
  };
  return {
    ...toRecord(invocation),
    detail: prepareJson(detail),
  };
}
