export type Attributes = Readonly<Record<string, string | number | boolean>>;
type Kind = 'server' | 'client' | 'internal';

export interface SpanOptions {
  readonly kind: Kind;
  readonly attributes?: Attributes;
}

/** Traces of this process, while they are on. */
export interface Tracing {
  /** Runs `fn` in the root span of a request: a child of the caller's, if `traceparent` is valid. */
  serve<T>(name: string, traceparent: string | undefined, fn: () => Promise<T>): Promise<T>;
  /** Runs `fn` in a child of the current span; without one that is recorded, runs it without. */
  span<T>(name: string, options: SpanOptions, fn: () => Promise<T>): Promise<T>;
  /** Names the current span, or adds to it. */
  annotate(change: { readonly name?: string; readonly attributes?: Attributes; readonly isError?: boolean }): void;
  /** The header that continues the current trace at another service; null outside a trace. */
  traceparent(): string | null;
  /** The trace that is recorded now; null: none is. */
  recordedTraceId(): string | null;
  /** Keeps the current trace for work that begins later, if it is recorded. */
  remember(key: string): void;
  /** Runs `fn` in a child of the span kept under the key; without one, as `span`. */
  resume<T>(key: string, name: string, options: SpanOptions, fn: () => Promise<T>): Promise<T>;
  /** Sends the remaining traces and ends. */
  stop(): Promise<void>;
}

/**
 * The tracing of this process, a global so that calls need not pass it on. Null: off, every function here costs one comparison, and no
 * package of OpenTelemetry is loaded.
 */
let tracing: Tracing | null = null;

export const isTracing = (): boolean => tracing !== null;

/** Switches traces on until `stop`. */
export function startTracing(given: Tracing): { stop(): Promise<void> } {
  tracing = given;
  return {
    async stop() {
      if (tracing === given) tracing = null;
      await given.stop();
    },
  };
}

export const served = <T>(name: string, traceparent: string | undefined, fn: () => Promise<T>): Promise<T> =>
  tracing === null ? fn() : tracing.serve(name, traceparent, fn);

/** `attributes` is called only while traces are on. */
export const traced = <T>(name: string, kind: Kind, attributes: () => Attributes, fn: () => Promise<T>): Promise<T> =>
  tracing === null || tracing.recordedTraceId() === null
    ? fn()
    : tracing.span(name, { kind, attributes: attributes() }, fn);

export const resumed = <T>(key: string, name: string, attributes: Attributes, fn: () => Promise<T>): Promise<T> =>
  tracing === null ? fn() : tracing.resume(key, name, { kind: 'internal', attributes }, fn);

export const rememberTrace = (key: string): void => tracing?.remember(key);

export const annotate: Tracing['annotate'] = (change) => tracing?.annotate(change);

/** The label of an exemplar: the trace that is recorded now. */
export function exemplarLabels(): Record<string, string> {
  const id = tracing?.recordedTraceId() ?? null;
  return id === null ? {} : { trace_id: id };
}

/** Headers that continue the current trace elsewhere. */
export function traceHeaders(): Record<string, string> {
  const traceparent = tracing?.traceparent() ?? null;
  return traceparent === null ? {} : { traceparent };
}
