import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import type { GuardedFetchError, GuardedFetchErrorKind } from '../../lib/net/guarded-fetch-error.ts';
import type { AgentAnswer } from './agent-answer.ts';

const failureOf: Record<GuardedFetchErrorKind, { reason: FailureReason; message: string }> = {
  timeout: { reason: 'deadline_exceeded', message: 'The agent did not answer before the deadline.' },
  aborted: { reason: 'deadline_exceeded', message: 'The call was aborted before the agent answered.' },
  too_large: { reason: 'response_too_large', message: 'The agent answered with more than 1 MiB.' },
  redirect: { reason: 'agent_redirected', message: 'The agent answered with a redirect, which is not followed.' },
  encoding: { reason: 'invalid_response', message: 'The agent sent a compressed answer, which is not accepted.' },
  reset: { reason: 'agent_unreachable', message: 'The agent closed the connection without an answer.' },
  connect: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  // One message for an unresolvable name and for a refused address: a difference would map a private network.
  dns: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  blocked: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  invalid_url: { reason: 'agent_unreachable', message: "The agent's endpoint is not a URL that can be called." },
};

/** Classifies a call that got no answer. */
export const readFailure = (error: GuardedFetchError): AgentAnswer => ({
  kind: 'ended',
  outcome: { kind: 'failed', ...failureOf[error.kind] },
  isRetryable: error.isRetryable,
});
