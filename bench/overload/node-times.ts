/** Times that a node measures itself, from its `/metrics`: without the clients, which share the other processor with everything else. */
export interface NodeTimes {
  /** Requests that have been answered so far, by route and the longest time, in seconds, that they took. */
  readonly buckets: ReadonlyMap<string, number>;
  /** 99 of 100 delays of the event loop since the last reading were shorter. */
  readonly loopP99Ms: number;
}

/** A timer of the event loop is due so often; what Node gives as its delay has that time in it. */
const LOOP_TIMER_MS = 10;
const BUCKET = /^http_server_request_duration_seconds_bucket\{(\S+)\} (\S+)/gm;
const label = (labels: string, name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';

export async function readNodeTimes(baseUrl: string): Promise<NodeTimes> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const [, lag] = /^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(text) ?? [];
  const buckets = new Map<string, number>();
  for (const [, labels = '', count] of text.matchAll(BUCKET)) {
    const key = `${label(labels, 'route')} ${label(labels, 'le')}`;
    buckets.set(key, (buckets.get(key) ?? 0) + Number(count));
  }
  return { buckets, loopP99Ms: Number(lag) * 1000 - LOOP_TIMER_MS };
}

export interface ReadsInNode {
  readonly count: number;
  /** From the request to its answer, within the node; the upper bound of the histogram's bucket that the 99th of 100 is in. */
  readonly p99Ms: number;
}

/** Requests of these routes between two readings. */
export function readsBetween(routes: readonly string[], before: NodeTimes, after: NodeTimes): ReadsInNode {
  const byBound = new Map<number, number>();
  for (const [key, count] of after.buckets) {
    const [route = '', bound] = key.split(' ');
    if (!routes.includes(route)) continue;
    const seconds = bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound);
    byBound.set(seconds, (byBound.get(seconds) ?? 0) + count - (before.buckets.get(key) ?? 0));
  }
  const bounds = [...byBound].sort(([a], [b]) => a - b);
  const count = bounds.at(-1)?.[1] ?? 0;
  const [seconds] = bounds.find(([, upTo]) => upTo >= 0.99 * count) ?? [Number.NaN];
  return { count, p99Ms: seconds * 1000 };
}
