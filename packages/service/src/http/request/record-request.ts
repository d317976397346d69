import type { Gateway } from '@agent-network/contracts/endpoint';
import type { Context } from 'hono';
import { annotate, exemplarLabels } from '../../lib/telemetry/tracing.ts';
import type { HttpContext } from './http-context.ts';
import { addressOf } from './remote-address.ts';

export interface EndedRequest {
  /** The endpoint, by its name in the table or by the gateway's own. */
  readonly route: string;
  readonly gateway: Gateway | 'rest';
  readonly requestId: string;
  readonly status: number;
  readonly startMs: number;
}

const refusals: Readonly<Record<number, 'unauthorized' | 'forbidden'>> = { 401: 'unauthorized', 403: 'forbidden' };

/** Records an answered request in the metrics, the log and its trace. The body of a stream comes after it. */
export function recordRequest(ctx: HttpContext, c: Context, ended: EndedRequest): void {
  const { route, gateway, requestId, status, startMs } = ended;
  const tookMs = performance.now() - startMs;
  const labels = { route, gateway, face: gateway, status };
  ctx.metrics.requestDuration.observe({ labels, value: tookMs / 1000, exemplarLabels: exemplarLabels() });
  const attributes = {
    'http.response.status_code': status,
    'agent_network.gateway': gateway,
    'agent_network.face': gateway,
    'agent_network.request_id': requestId,
  };
  annotate({ name: route, attributes, isError: status >= 500 });
  const kind = refusals[status];
  if (kind) ctx.refusalLog.record({ kind, route, gateway, requestId, address: addressOf(ctx, c) });
  ctx.log.debug({ requestId, route, status, tookMs: Math.round(tookMs * 10) / 10 }, 'request');
}
