import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto';
import type { EndpointProofName } from '@agent-network/contracts/agents/identity';
import { parseObject } from '../../lib/json/json-object.ts';
import { GuardedFetchError, type Outbound } from '../../lib/net/guarded-fetch.ts';
import type { Store } from '../../store/database.ts';

export type EndpointProof =
  | {
      readonly isProven: true;
      readonly by: EndpointProofName;
      /** Time in which the endpoint answered; null: it was not asked itself. */
      readonly tookMs: number | null;
    }
  | { readonly isProven: false; readonly reason: string; readonly failed?: FailedChallenge };

/** Status of the answer to a failed challenge, or the error. The body is left out, as its owner is unproven. */
export type FailedChallenge = { readonly status: number } | { readonly error: GuardedFetchError };

export interface EndpointClaim {
  readonly agentId: string;
  readonly endpoint: string;
  readonly identityToken: string;
  /** Headers of the owner for the endpoint's origin, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;

/**
 * Asks the endpoint to answer a challenge with the identityToken of the agent. The failure reason helps the owner to correct it and reveals
 * nothing else about the address.
 */
export async function tryChallenge(ctx: Outbound & Store, claim: EndpointClaim): Promise<EndpointProof> {
  const challenge = randomBytes(32).toString('hex');
  const body = JSON.stringify({ type: 'verification', agent_id: claim.agentId, challenge });
  const startMs = performance.now();
  try {
    const { status, body: bytes } = await ctx.guardedFetch.request({
      url: claim.endpoint,
      method: 'POST',
      headers: {
        ...claim.headers,
        'content-type': 'application/json',
        ...signAgentCall(claim.identityToken, `vrf_${challenge.slice(0, 24)}`, body, ctx.clock.now()),
      },
      body,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    if (status !== 200)
      return {
        isProven: false,
        reason: `The endpoint answered the challenge with status ${status}.`,
        failed: { status },
      };
    const expected = challengeResponse(claim.identityToken, { challenge, ...claim });
    const answer = parseObject(bytes.toString('utf8'));
    if (answer?.agent_id !== claim.agentId || !isChallengeMet(expected, answer.response))
      return {
        isProven: false,
        reason: 'The endpoint did not answer the challenge with the identityToken of this agent.',
        failed: { status },
      };
    return { isProven: true, by: 'challenge', tookMs: performance.now() - startMs };
  } catch (error) {
    if (error instanceof GuardedFetchError)
      return { isProven: false, reason: `The endpoint could not be called: ${error.message}`, failed: { error } };
    throw error;
  }
}

/** The registrations that the well-known file of an endpoint's origin names; none when it has no such file. */
export async function readWellKnown(ctx: Outbound, endpoint: string): Promise<Record<string, unknown>[]> {
  try {
    const { status, body } = await ctx.guardedFetch.request({
      url: new URL('/.well-known/agent-registration.json', endpoint).href,
      method: 'GET',
      headers: {},
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
    });
    const registrations = status === 200 ? parseObject(body.toString('utf8'))?.registrations : null;
    return Array.isArray(registrations)
      ? registrations.filter((each) => typeof each === 'object' && each !== null)
      : [];
  } catch (error) {
    if (error instanceof GuardedFetchError) return [];
    throw error;
  }
}

/**
 * Signature headers of a call to an agent, by which it recognizes this node: Standard Webhooks, with the identityToken's 32 bytes as the
 * secret. `id` is the message id; repetitions keep it.
 */
export function signAgentCall(identityToken: string, id: string, body: string, now: Date): Record<string, string> {
  const timestamp = Math.floor(now.getTime() / 1000).toString();
  // A prepared key: passing plain bytes costs five times as much.
  const secret = createSecretKey(identityToken.slice(2), 'hex');
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** The answer that an agent must give to a challenge; it proves that the process behind the endpoint holds the identityToken. */
export function challengeResponse(
  identityToken: string,
  { challenge, agentId, endpoint }: { challenge: string; agentId: string; endpoint: string },
): string {
  return createHmac('sha256', identityToken).update(`${challenge}\n${agentId}\n${endpoint}`).digest('hex');
}

/** `shown` is the agent's answer, of any type. */
export function isChallengeMet(expected: string, shown: unknown): boolean {
  if (typeof shown !== 'string' || !/^[0-9a-f]{64}$/i.test(shown)) return false;
  return timingSafeEqual(Buffer.from(shown, 'hex'), Buffer.from(expected, 'hex'));
}
