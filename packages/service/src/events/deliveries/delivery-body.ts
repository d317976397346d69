/** Larger results are read by the receiver; Standard Webhooks asks for small bodies. */
const MAX_BODY_BYTES = 256 * 1024;

export interface Happened {
  readonly type: string;
  readonly subjectId: string;
  readonly createdAt: Date;
}

/**
 * The bytes of a delivery: type, the time when it happened, and the object. An object that is too large comes without its `result`,
 * with the address where it can be read as `resultUrl` instead.
 */
export function deliveryBody(event: Happened, data: unknown, baseUrl: string): string {
  const wrap = (shown: unknown) =>
    JSON.stringify({ type: event.type, timestamp: event.createdAt.toISOString(), data: shown });
  const body = wrap(data);
  if (Buffer.byteLength(body) <= MAX_BODY_BYTES || !hasResult(data)) return body;
  const { result: _result, ...rest } = data;
  return wrap({ ...rest, resultUrl: baseUrl + pathOf(event) });
}

const hasResult = (data: unknown): data is { result: unknown } =>
  typeof data === 'object' && data !== null && 'result' in data;

const pathOf = ({ type, subjectId }: Happened): string =>
  type.startsWith('bulk.') ? `/invoke/bulk/${subjectId}` : `/invoke/${subjectId}`;
