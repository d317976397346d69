import type { Face } from '@agent-network/contracts/endpoint';
import type { Context } from 'hono';
import { annotate, exemplarLabels } from '../../lib/tracing/tracing.ts';
import type { HttpContext } from './http-context.ts';
import { addressOf } from './remote-address.ts';

export interface EndedRequest {
  /** The endpoint, by its name in the table or by the face's own. */
  readonly route: string;
  readonly face: Face | 'rest';
  readonly requestId: string;
  readonly status: number;
  readonly startMs: number;
}

const refusals: Readonly<Record<number, 'unauthorized' | 'forbidden'>> = { 401: 'unauthorized', 403: 'forbidden' };

/** Records an answered request in the metrics, the log and its trace. The body of a stream comes after it. */
export function noteRequest(ctx: HttpContext, c: Context, ended: EndedRequest): void {
  const { route, face, requestId, status, startMs } = ended;
  const tookMs = performance.now() - startMs;
  const labels = { route, face, status };
  ctx.metrics.requestDuration.observe({ labels, value: tookMs / 1000, exemplarLabels: exemplarLabels() });
  const attributes = {
    'http.response.status_code': status,
    'agent_network.face': face,
    'agent_network.request_id': requestId,
  };
  annotate({ name: route, attributes, isError: status >= 500 });
  const kind = refusals[status];
  if (kind) ctx.refusalLog.note({ kind, route, face, requestId, address: addressOf(ctx, c) });
  ctx.log.debug({ requestId, route, status, tookMs: Math.round(tookMs * 10) / 10 }, 'request');
}
