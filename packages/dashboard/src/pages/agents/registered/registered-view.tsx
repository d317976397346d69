import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
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
import { useProofTries } from './use-proof-tries.ts';

export interface NewAgent {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly protocol: AgentProtocol;
  readonly identityToken: string;
}

/** An agent that was just registered: its token, shown once, what its endpoint has to do, and whether it does. */
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
