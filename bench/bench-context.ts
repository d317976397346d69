import type { Request } from './http-connection.ts';
import type { LoadGenerator } from './load-generator.ts';
import { type RoundsResult, ratioOf } from './rounds.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import type { StopList } from './stop-list.ts';

export interface BenchContext {
  readonly stops: StopList;
  readonly service: ServiceUnderTest;
  readonly load: LoadGenerator;
  /** Duration of each round. */
  readonly seconds: number;
  /** Number of rounds per figure; the median counts. */
  readonly rounds: number;
  /** Numbers of agents of the registries that (i) asks. */
  readonly agents: readonly number[];
}

/** A line of the report: one figure of this project, with a peer's if there is one. */
export interface Figure {
  readonly bench: string;
  readonly what: string;
  readonly callers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly generatorCpu: number;
  readonly peer?: { readonly name: string; readonly perSecond: number; readonly ratio: number };
  readonly aim?: Aim;
  readonly note?: string;
}

export interface Aim {
  readonly text: string;
  readonly isReached: boolean;
  /** Missing it fails the run: it does not depend on how fast the machine is. */
  readonly isPromise?: boolean;
}

export const work = { task: 'echo', input: { text: 'hello' } } as const;
/** Part of the answer to `work`, from our agents and from the peers'. */
export const echoed = '"text":"hello"';

/** The call that every bench of invocations makes to our service. */
export function invokeRequest({ service }: BenchContext, headers: Record<string, string>): Request {
  const { baseUrl, apiKey } = service.local;
  return {
    method: 'POST',
    url: `${baseUrl}/invoke/${service.echoAgentId}`,
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    body: work,
  };
}

export const peerRequest = (url: string): Request => ({ method: 'POST', url, headers: {}, body: work });

/** Row of the report for what a contestant reached in all rounds. */
export const figureOf = (bench: string, what: string, callers: number, result: RoundsResult): Figure => {
  const { perSecond, p50Ms, p99Ms, generatorCpu } = result;
  return { bench, what, callers, perSecond, p50Ms, p99Ms, generatorCpu };
};

/** A peer beside us; `ratio` says how many times faster we were. */
export const peerOf = (name: string, ours: RoundsResult, theirs: RoundsResult): NonNullable<Figure['peer']> => ({
  name,
  perSecond: theirs.perSecond,
  ratio: ratioOf(ours, theirs),
});
