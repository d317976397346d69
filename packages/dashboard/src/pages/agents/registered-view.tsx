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
  <Page title={`${agent.name} was registered`} up={up} aside={<Copyable label="agent id" text={agent.id} />}>
    <div className="max-w-3xl space-y-5">
      <Card title="Its identity token">
        <div className="space-y-3">
          <p className="text-muted">
            The agent proves its endpoint with it, tells calls of the node from those of strangers, and acts as itself.
            Give it to nothing else.
          </p>
          <Secret value={agent.identityToken} label="Identity token" />
        </div>
      </Card>
      <Card title="Next: prove the endpoint">
        <CodeBlock label="Proving the endpoint" samples={proofSamples(agent)} />
      </Card>
      <Actions>
        <Link
          to="/agents/$agentId"
          params={{ agentId: agent.id }}
          search={{ tab: 'verification' }}
          className={buttonClass('primary')}
        >
          I have kept the token: go on
        </Link>
      </Actions>
    </div>
  </Page>
);
