import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { buttonClass } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { Secret } from '../../ui/values/secret.tsx';
import { proofSamples } from './agent-samples.ts';

export interface NewAgent {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly protocol: AgentProtocol;
  readonly identityToken: string;
}

/** An agent that was just registered: its token, shown once, and what to do with it. */
export const RegisteredView = ({ agent, up }: { agent: NewAgent; up: ReactNode }) => (
  <Page title={`${agent.name} is registered`} up={up} aside={<Copyable label="agent id" text={agent.id} />}>
    <div className="max-w-3xl space-y-5">
      <Card title="Identity token">
        <div className="space-y-3">
          <p className="text-muted">
            {agent.protocol === 'http'
              ? "The agent uses it to verify its endpoint, to tell the node's calls from a stranger's, and to act as itself. Don't share it with anything else."
              : "Whoever has it can act as the agent. An endpoint of this protocol doesn't need it: keep it to yourself."}
          </p>
          <Secret value={agent.identityToken} label="Identity token" />
        </div>
      </Card>
      <Card title="Next: verify the endpoint">
        <p className="mb-3 text-muted">Do one of these.</p>
        <CodeBlock label="How to verify the endpoint" samples={proofSamples(agent)} />
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
