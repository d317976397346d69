import { ConfigError, type Env, integer } from './lib/read-env.ts';
import type { TracingSettings } from './lib/tracing/open-telemetry.ts';

/** Null: off. The exporter itself reads OTEL_EXPORTER_OTLP_HEADERS, which may hold a credential. */
export function readTracing(env: Env): TracingSettings | null {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const ratio = ratioOf(env.TRACE_SAMPLE_RATIO ?? '0.01');
  const perSecond = integer(env, 'TRACES_PER_SECOND', 10, 1, 1000);
  void env.OTEL_EXPORTER_OTLP_HEADERS;
  if (endpoint === undefined || endpoint === '') return null;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw new ConfigError('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL.');
  return { endpoint, ratio, perSecond };
}

function ratioOf(text: string): number {
  const ratio = /^(0|1|0?\.\d{1,6}|1\.0{1,6})$/.test(text) ? Number(text) : Number.NaN;
  if (!(ratio >= 0 && ratio <= 1)) throw new ConfigError('TRACE_SAMPLE_RATIO must be a number from 0 to 1.');
  return ratio;
}
