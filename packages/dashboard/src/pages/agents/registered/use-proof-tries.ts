import type { EndpointVerified } from '@agent-network/contracts/agents/identity';
import { useEffect, useState } from 'react';
import { useApiMutation } from '../../../app/api-query.ts';

/** Pauses before each try: soon at first, as the token was just seen; few in all, as each is a call of the account. */
const PAUSES_MS = [3000, 4000, 5000, 8000, 12_000, 20_000, 30_000, 60_000, 60_000, 60_000, 120_000, 120_000];

/** Has the node challenge the endpoint again and again while its owner sets it up; `answer` is that of the last try. */
export function useProofTries(agentId: string): { answer: EndpointVerified | undefined; isOver: boolean } {
  const [tries, setTries] = useState(0);
  const { mutate, data } = useApiMutation('verifyIdentity', {
    invalidates: ['listOwnAgents', 'getIdentity', 'getAgent'],
  });
  const answer = data && 'proof' in data && data.proof === 'endpoint' ? data : undefined;
  const isProven = answer?.reason === null;
  useEffect(() => {
    const pauseMs = PAUSES_MS[tries];
    if (isProven || pauseMs === undefined) return;
    const timer = setTimeout(() => {
      mutate({ body: { agentId, proof: 'endpoint' } }, { onSettled: () => setTries((before) => before + 1) });
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [mutate, agentId, isProven, tries]);
  return { answer, isOver: tries >= PAUSES_MS.length };
}
