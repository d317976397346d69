import type { Home } from '../../agents/agent.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { GuardedFetch, GuardedResponse, Outbound } from '../../lib/net/guarded-fetch.ts';
import type { GuardedStream } from '../../lib/net/guarded-fetch-stream.ts';
import type { CallServices } from '../call-services.ts';

export type HomeContext = Outbound & Pick<CallServices, 'homeKeys'> & NodeIdentity;

export interface HomeRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to the node's base address. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Fits a record with the largest result and the largest input. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of a stream on one connection. */
const MAX_STREAM_BYTES = 32 * 1024 * 1024;
/** Idle timeout: three heartbeats of a node's stream. */
const IDLE_MS = 45_000;

/** Calls another node with this node's API key there. Throws GuardedFetchError when it can't be reached. */
export const askHome = (ctx: HomeContext, home: Home, request: HomeRequest): Promise<GuardedResponse> =>
  withKey(ctx, home, request, {
    refuse: (status) => ({ status, headers: {}, body: Buffer.alloc(0) }),
    send: (sent) => ctx.guardedFetch.request({ ...sent, maxBytes: MAX_ANSWER_BYTES }),
    drop: () => undefined,
  });

/** Opens a streamed answer of the home node. */
export const openAtHome = (ctx: HomeContext, home: Home, request: HomeRequest): Promise<GuardedStream> =>
  withKey(ctx, home, request, {
    refuse: refusedStream,
    send: (sent) => ctx.guardedFetch.stream({ ...sent, maxBytes: MAX_STREAM_BYTES, idleTimeoutMs: IDLE_MS }),
    drop: (stream) => stream.cancel(),
  });

const refusedStream = (status: number): GuardedStream => ({
  ...{ status, headers: {}, cancel: () => undefined },
  body: {
    async *[Symbol.asyncIterator]() {},
  },
});

interface Way<R> {
  /** Result in place of the answer of a node that gives no key. */
  readonly refuse: (status: number) => R;
  readonly send: (request: Parameters<GuardedFetch['request']>[0]) => Promise<R>;
  /** Closes the connection of an answer that is not read. */
  readonly drop: (answer: R) => void;
}

/** Renews a refused key once. */
async function withKey<R extends { status: number }>(
  ctx: HomeContext,
  home: Home,
  { path, headers, ...request }: HomeRequest,
  { refuse, send, drop }: Way<R>,
): Promise<R> {
  let known = await ctx.homeKeys.keyFor(home);
  for (let tries = 1; ; tries++) {
    if ('refusal' in known) return refuse(known.refusal);
    const answer = await send({
      ...request,
      url: home.baseUrl + path,
      headers: { ...headers, authorization: `Bearer ${known.key}`, 'x-agent-network-via': ctx.baseUrl },
      maxBytes: 0,
    });
    if (answer.status !== 401 || tries === 2) return answer;
    drop(answer);
    known = await ctx.homeKeys.renew(home, known.key);
  }
}
