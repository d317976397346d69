import type { EndpointVerified } from '@agent-network/contracts/agents/identity';
import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useApiMutation } from '../../../app/api-query.ts';
import { buttonClass } from '../../../ui/controls/button.tsx';
import { Copyable } from '../../../ui/controls/copyable.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Actions } from '../../../ui/overlays/dialog.tsx';
import { CodeBlock } from '../../../ui/values/code-block.tsx';
import { Note } from '../../../ui/values/note.tsx';
import { Secret } from '../../../ui/values/secret.tsx';
import { proofSamples } from '../agent-samples.ts';
import { AgentContract } from './agent-contract.tsx';

export interface NewAgent {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly protocol: AgentProtocol;
  readonly identityToken: string;
}

/** An agent that was just registered: its token, shown once, the requirements of its endpoint, and whether it meets them. */
export const RegisteredView = ({ agent, up }: { agent: NewAgent; up: ReactNode }) => (
  <Page title={`${agent.name} is registered`} up={up} aside={<Copyable label="agent id" text={agent.id} />}>
    <div className="max-w-3xl space-y-5">
      <Card title="Identity token">
        <div className="space-y-3">
          <p className="text-muted">
            {agent.protocol === 'http'
              ? "The agent uses it to verify its endpoint, to tell the node's calls from a stranger's, and to act as itself. Don't share it with anything else."
              : "Anyone who has it can act as the agent. Endpoints that use this protocol don't need it, so keep it to yourself."}
          </p>
          <Secret value={agent.identityToken} label="Identity token" />
        </div>
      </Card>
      <Card title="Next: verify the endpoint">
        <div className="space-y-4">
          <ProofState agent={agent} />
          {agent.protocol === 'http' ? (
            <AgentContract agent={agent} />
          ) : (
            <>
              <p className="text-muted">Do one of these.</p>
              <CodeBlock label="How to verify the endpoint" samples={proofSamples(agent)} />
            </>
          )}
        </div>
      </Card>
      <Actions>
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent.id }}
          search={{ tab: 'verification' }}
          className={buttonClass('primary')}
        >
          I've saved the token
        </Link>
      </Actions>
    </div>
  </Page>
);

const waiting = {
  true: [
    'Waiting for your endpoint to answer the challenge…',
    'Start it with the identity token. The node keeps trying.',
  ],
  false: ['Waiting for a proof of your endpoint…', 'The node keeps checking.'],
} as const;

/** Outcome of the last proof attempt; the node tries again by itself. */
function ProofState({ agent: { id, protocol } }: { agent: NewAgent }) {
  const { answer, isOver } = useProofTries(id);
  const [title, text] = waiting[`${protocol === 'http'}`];
  return (
    <div role="status">
      {answer?.reason === null ? (
        <Note tone="good" title="The endpoint is verified." />
      ) : (
        <Note title={isOver ? 'Not verified yet' : title}>{answer?.reason ?? text}</Note>
      )}
    </div>
  );
}

/** Pauses before each try: soon at first, as the token was just seen; few in all, as each is a call of the account. */
const PAUSES_MS = [3000, 4000, 5000, 8000, 12_000, 20_000, 30_000, 60_000, 60_000, 60_000, 120_000, 120_000];

/** Has the node challenge the endpoint again and again while its owner sets it up; `answer` is that of the last try. */
function useProofTries(agentId: string): { answer: EndpointVerified | undefined; isOver: boolean } {
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
