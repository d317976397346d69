import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  SamplingDecision,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import { LRUCache } from 'lru-cache';
import type { Log } from './log.ts';
import type { SpanOptions, Tracing } from './tracing.ts';

export interface TracingSettings {
  /** Base URL of an OTLP collector (HTTP). */
  readonly endpoint: string;
  /** Share of the traces that are recorded, and their most in a second. */
  readonly ratio: number;
  readonly perSecond: number;
}

/** Traces kept for work that begins later in this process. */
const MAX_REMEMBERED = 10_000;
/** A span that has waited longer than the queue holds is dropped: a slow collector costs memory up to here, and no request any time. */
const QUEUE = { maxQueueSize: 4096, maxExportBatchSize: 512, scheduledDelayMillis: 1000, exportTimeoutMillis: 5000 };
/** A stop does not wait longer for a collector. */
const STOP_WITHIN_MS = 1000;
const WARN_EVERY_MS = 60_000;

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const propagator = new W3CTraceContextPropagator();

/** Opens traces on OpenTelemetry. The only module that loads it. */
export function createOpenTelemetry(
  settings: TracingSettings,
  { log, nodeLabel }: { readonly log: Log; readonly nodeLabel: string },
): Tracing {
  const provider = createProvider(settings, log, nodeLabel);
  const tracer = provider.getTracer('agent-network');
  const current = new AsyncLocalStorage<Span>();
  const remembered = new LRUCache<string, Span>({ max: MAX_REMEMBERED });

  async function within<T>(span: Span, fn: () => Promise<T>): Promise<T> {
    try {
      return await current.run(span, fn);
    } catch (error) {
      // The class only: messages may hold what callers and agents wrote.
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }
  const start = (name: string, { kind, attributes = {} }: SpanOptions, parent: Context) =>
    tracer.startSpan(name, { kind: kinds[kind], attributes }, parent);
  const childOf = <T>(parent: Span | undefined, name: string, options: SpanOptions, fn: () => Promise<T>) =>
    parent && isSampled(parent) ? within(start(name, options, trace.setSpan(ROOT_CONTEXT, parent)), fn) : fn();

  return {
    serve: (name, traceparent, fn) => within(start(name, { kind: 'server' }, callersContext(traceparent)), fn),
    span: (name, options, fn) => childOf(current.getStore(), name, options, fn),
    annotate({ name, attributes, isError }) {
      const span = current.getStore();
      if (name) span?.updateName(name);
      if (attributes) span?.setAttributes(attributes);
      if (isError) span?.setStatus({ code: SpanStatusCode.ERROR });
    },
    traceparent() {
      const span = current.getStore();
      const headers: { traceparent?: string } = {};
      if (span)
        propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, {
          set: (carrier, key, value) => Object.assign(carrier, { [key]: value }),
        });
      return headers.traceparent ?? null;
    },
    recordedTraceId() {
      const span = current.getStore();
      return span && isSampled(span) ? span.spanContext().traceId : null;
    },
    remember(key) {
      const span = current.getStore();
      if (span && isSampled(span)) remembered.set(key, trace.wrapSpanContext(span.spanContext()));
    },
    resume: (key, name, options, fn) => childOf(remembered.get(key) ?? current.getStore(), name, options, fn),
    stop: () => Promise.race([provider.shutdown(), delay(STOP_WITHIN_MS, undefined, { ref: false })]),
  };
}

const isSampled = (span: Span): boolean => (span.spanContext().traceFlags & 1) === 1;

/** `tracestate` is not read: text of callers goes no further. */
const callersContext = (traceparent: string | undefined): Context =>
  propagator.extract(ROOT_CONTEXT, traceparent, {
    get: (carrier, key) => (key === 'traceparent' ? carrier : undefined),
    keys: () => ['traceparent'],
  });

function createProvider({ endpoint, ratio, perSecond }: TracingSettings, log: Log, nodeLabel: string) {
  const isDrawn = createSampling({ ratio, perSecond });
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces`, timeoutMillis: 5000 });
  return new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'agent-network', 'service.instance.id': nodeLabel }),
    spanProcessors: [new BatchSpanProcessor(telling(exporter, log), QUEUE)],
    spanLimits: { attributeValueLengthLimit: 256, attributeCountLimit: 32 },
    sampler: {
      shouldSample(context) {
        const parent = trace.getSpanContext(context);
        const isOurs = parent !== undefined && parent.isRemote !== true;
        const isRecorded = isOurs ? (parent.traceFlags & 1) === 1 : isDrawn();
        return { decision: isRecorded ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
      },
      toString: () => 'own draw, bounded by second',
    },
  });
}

/** An exporter that logs its failures, once a minute at most. */
function telling(exporter: SpanExporter, log: Log): SpanExporter {
  let toldMs = Number.NEGATIVE_INFINITY;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error && performance.now() - toldMs > WARN_EVERY_MS) {
          toldMs = performance.now();
          log.warn({ err: result.error }, 'traces cannot be sent; they are dropped');
        }
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}

/** Decides at the start of a trace whether it is recorded. */
type Sampling = () => boolean;

/**
 * Samples a share of traces, up to a maximum per second. It draws its own random number and ignores the caller's trace id and flag, so that
 * callers can't make a node record more than its operator wants.
 */
export function createSampling(
  { ratio, perSecond }: { readonly ratio: number; readonly perSecond: number },
  { nowMs = () => performance.now(), random = Math.random } = {},
): Sampling {
  let left = perSecond;
  let filledMs = nowMs();
  return () => {
    if (random() >= ratio) return false;
    const now = nowMs();
    left = Math.min(perSecond, left + ((now - filledMs) / 1000) * perSecond);
    filledMs = now;
    if (left < 1) return false;
    left--;
    return true;
  };
}
