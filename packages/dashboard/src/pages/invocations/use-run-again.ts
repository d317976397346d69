import type { Api } from '@agent-network/contracts/api';
import { type CallOf, mayHaveHappened } from '@agent-network/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { client } from '../../app/client.ts';

type InvokeCall = CallOf<Api['invokeAgent']>;

/** One call, under one key and with one body, however often it is sent. */
interface Attempt {
  readonly key: string;
  readonly call: InvokeCall;
}

/** Invokes an agent. While it is not known whether the call was made, the next one sends that call again and nothing else. */
export function useRunAgain() {
  const queryClient = useQueryClient();
  const attempt = useRef<Attempt | null>(null);
  const invoke = useMutation({
    async mutationFn(call: InvokeCall) {
      attempt.current ??= { key: crypto.randomUUID(), call };
      try {
        const answer = await client.invokeAgent(attempt.current.call, { idempotencyKey: attempt.current.key });
        attempt.current = null;
        return answer;
      } catch (error) {
        if (!mayHaveHappened(error)) attempt.current = null;
        throw error;
      }
    },
    async onSettled() {
      const stale = ['listInvocations', 'getBalance', 'listOwnAgents'] as const;
      await Promise.all(stale.map((name) => queryClient.invalidateQueries({ queryKey: [name] })));
    },
  });
  return { invoke, isUncertain: invoke.isError && attempt.current !== null };
}
