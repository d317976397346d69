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
  readonly identityToken: string;
}

/** An agent that was just registered: its token, shown once, and what to do with it. */
export const RegisteredView = ({ agent, up }: { agent: NewAgent; up: ReactNode }) => (
  <Page title={`${agent.name} is registered`} up={up} aside={<Copyable label="agent id" text={agent.id} />}>
    <div className="max-w-3xl space-y-5">
      <Card title="Identity token">
        <div className="space-y-3">
          <p className="text-muted">
            The agent uses it to verify its endpoint, to tell the node's calls from a stranger's, and to act as itself.
            Don't share it with anything else.
          </p>
          <Secret value={agent.identityToken} label="Identity token" />
        </div>
      </Card>
      <Card title="Next: verify the endpoint">
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
