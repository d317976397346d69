import { encodeJson } from '../../lib/json/prepared-json.ts';

/** Size limit of a body, as Standard Webhooks recommends; receivers fetch larger results. */
const MAX_BODY_BYTES = 256 * 1024;

export interface Happened {
  readonly type: string;
  readonly subjectId: string;
  readonly createdAt: Date;
}

/**
 * The bytes of a delivery: type, timestamp of the event, and the object. An oversized object has no `result`, but `resultUrl`, its address.
 */
export function deliveryBody(event: Happened, data: unknown, baseUrl: string): string {
  const wrap = (shown: unknown) =>
    encodeJson({ type: event.type, timestamp: event.createdAt.toISOString(), data: shown }).toString();
  const body = wrap(data);
  if (Buffer.byteLength(body) <= MAX_BODY_BYTES || !hasResult(data)) return body;
  const { result: _result, ...rest } = data;
  return wrap({ ...rest, resultUrl: baseUrl + pathOf(event) });
}

const hasResult = (data: unknown): data is { result: unknown } =>
  typeof data === 'object' && data !== null && 'result' in data;

const pathOf = ({ type, subjectId }: Happened): string =>
  type.startsWith('bulk.') ? `/invoke/bulk/${subjectId}` : `/invoke/${subjectId}`;
