import type { OfflineReason } from '@agent-network/contracts/invocations/figures';
import type { Suspension } from '../../accounts/suspension.ts';
import { isLoopbackHost } from '../../lib/net/guarded-fetch-address.ts';
import type { Agent, FaultKind } from '../agent.ts';

/** Remedies of faults of endpoints, for their owners. */
export const adviceOn: Readonly<Record<FaultKind, string>> = {
  answer:
    'Look at the log of the server. The next check that it answers brings the agent back, two of them if it was offline.',
  credentials: 'Set upstream.headers of the agent to credentials that the endpoint accepts.',
  unproven:
    'Answer the challenge with the identityToken of this agent: check that the server has this token, and that the endpoint is registered letter for letter as it is served. Then check the endpoint again.',
  unreachable:
    'Start the server, and check that its address is reachable from the internet: DNS, port, firewall, TLS certificate.',
  timeout: 'Answer a GET within 5 seconds: nothing has to be done for it.',
  redirect: 'Register the address that the redirect leads to: redirects are not followed.',
  broken_off: 'Speak HTTP at this port, or HTTPS if the endpoint begins with https.',
  unreadable: 'Answer a GET with less than 1 MiB, and without compression.',
  changed: 'Prove the endpoint again if the change is meant.',
  token_lost:
    'Ask for a new identityToken with a signature of your wallet (POST /identity/verify with newIdentityToken), and give it to the server.',
};

const START_IT = 'Start the program that serves this address.';

const adviceFor = (endpoint: string, kind: FaultKind): string =>
  kind === 'unreachable' && isLoopbackHost(new URL(endpoint).hostname) ? START_IT : adviceOn[kind];

type Checked = Pick<Agent, 'status' | 'isAccepting' | 'fault' | 'faultDetail' | 'lastPingAt' | 'endpoint'>;

/**
 * Reason that an agent does not take calls, with its remedy, for its owner; null: it is online. While the owner's account is suspended, the
 * agent stays offline regardless of its answers.
 */
export function offlineReason(
  { status, isAccepting, fault, faultDetail, lastPingAt, endpoint }: Checked,
  suspension: Suspension | null,
): OfflineReason | null {
  if (status === 'online') return null;
  const at = lastPingAt?.toISOString() ?? null;
  const answer = { at, status: faultDetail?.status ?? null, body: faultDetail?.body ?? null };
  if (suspension !== null)
    return {
      ...answer,
      reason: `The operator of this node suspended your account on ${suspension.at.toISOString().slice(0, 10)}: ${suspension.reason}`,
      advice:
        'Ask the operator of this node. Until the suspension ends no agent of the account takes calls; you can read everything, cancel calls and withdraw.',
    };
  if (fault !== null) return { ...answer, reason: fault, advice: adviceFor(endpoint, faultDetail?.kind ?? 'answer') };
  if (!isAccepting)
    return {
      ...answer,
      reason: 'The agent reported that it does not accept calls.',
      advice:
        'Send POST /agents/{id}/heartbeat with {"accepting": true}, with its identityToken. Two answered checks bring it back.',
    };
  if (status === 'pending_verification')
    return { ...answer, reason: 'Its endpoint is not proven yet.', advice: adviceOn.unproven };
  return { ...answer, reason: 'It answers again.', advice: 'Nothing: the next check brings it back.' };
}
