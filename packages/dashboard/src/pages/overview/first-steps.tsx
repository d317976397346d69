import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { useSessionInfo } from '../../app/session.ts';
import { Button, buttonClass } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Step, Steps } from '../../ui/layout/steps.tsx';
import { CodeBlock, type CodeSample } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { isLiving } from '../keys/key.ts';
import { callSamples, findSamples, fundSamples, keySamples } from './first-call-samples.ts';

/** Steps to the first paid call, shown until it was made. Once the last step is ticked, the user may dismiss them. */
export function FirstSteps() {
  const progress = useFirstSteps();
  const [wasOpen, setWasOpen] = useState(false);
  const [isAway, setAway] = useState(false);
  if (progress && !progress.hasPaid && !wasOpen) setWasOpen(true);
  if (!progress || !wasOpen || isAway) return null;
  return (
    <Card
      title={progress.hasPaid ? 'You made your first paid call' : 'Your first paid call'}
      actions={
        progress.hasPaid && (
          <Button size="sm" onClick={() => setAway(true)}>
            Dismiss
          </Button>
        )
      }
    >
      <Checklist progress={progress} />
    </Card>
  );
}

function Checklist({ progress }: { progress: Progress }) {
  const { hasLocalAccount } = useSessionInfo();
  const steps = stepsOf(progress, location.origin, hasLocalAccount);
  const next = steps.findIndex(({ isDone }) => !isDone);
  return (
    <Steps
      label="Steps to the first paid call"
      steps={steps.map(({ samples, hint, ...step }, at) => ({
        ...step,
        content: !step.isDone && (
          <Commands key={String(at === next)} isOpen={at === next} title={step.title} samples={samples} hint={hint} />
        ),
      }))}
    />
  );
}

interface CommandStep extends Step {
  readonly samples: readonly CodeSample[];
  readonly hint: React.ReactNode;
}

function stepsOf(
  { hasKey, isFunded, agent, hasPaid }: Progress,
  origin: string,
  isLocal: boolean,
): readonly CommandStep[] {
  return [
    {
      title: 'Get an API key',
      isDone: hasKey || hasPaid,
      samples: keySamples(origin),
      hint: (
        <Link to="/keys" className={buttonClass('primary', 'sm')}>
          Create a key
        </Link>
      ),
    },
    {
      title: 'Fund the treasury',
      isDone: isFunded || hasPaid,
      samples: fundSamples(origin),
      hint: <FundHint isLocal={isLocal} />,
    },
    {
      title: 'Find an agent',
      isDone: agent !== null || hasPaid,
      aside: agent && <Found agent={agent} />,
      samples: findSamples(origin),
      hint: (
        <>
          No agents are online right now. <OwnAgentLink />
        </>
      ),
    },
    {
      title: 'Make a paid call',
      isDone: hasPaid,
      samples: callSamples(origin, agent?.id ?? '$AGENT_ID'),
      hint: agent && (
        <>
          It costs at most <Money amount={agent.rates.perRequest} />, and usually nothing if it fails.
        </>
      ),
    },
  ];
}

const FundHint = ({ isLocal }: { isLocal: boolean }) => (
  <>
    It pays for your calls.{' '}
    <Link to="/payments" className={linkClass}>
      Fund it with a browser wallet
    </Link>
    , or from code, where WALLET_PRIVATE_KEY is the private key of a wallet that holds USDC
    {isLocal && ', such as one from .agent-network/local.json'}.
  </>
);

const OwnAgentLink = () => (
  <Link to="/agents/new" className={linkClass}>
    Register your own
  </Link>
);

const Found = ({ agent: { id, name, rates } }: { agent: NonNullable<Progress['agent']> }) => (
  <span className="flex flex-wrap items-baseline gap-x-2">
    <Link to="/explore/$agentId" params={{ agentId: id }} className={`${linkClass} max-w-48 truncate`}>
      <bdi>{name}</bdi>
    </Link>
    <Money amount={rates.perRequest} />
    <Copyable label="agent id" text={id} short />
  </span>
);

interface CommandsProps extends Pick<CommandStep, 'samples' | 'hint' | 'title'> {
  readonly isOpen: boolean;
}

/** Commands of a step: open for the next step, collapsed for the others. */
const Commands = ({ isOpen, title, samples, hint }: CommandsProps) => (
  <details open={isOpen} className="min-w-0">
    <summary className="w-fit text-[13px] text-muted">Commands</summary>
    <div className="mt-2 space-y-2">
      {hint && <div className="text-muted">{hint}</div>}
      <CodeBlock label={title} samples={samples} />
    </div>
  </details>
);

/** Keys are made and agents come without an event that this page hears. */
const ASK_AGAIN_MS = 3000;

interface Progress {
  readonly hasKey: boolean;
  readonly isFunded: boolean;
  /** An agent that can be called now, preferably one with a price. */
  readonly agent: AgentListItem | null;
  readonly hasPaid: boolean;
}

const isPositive = (amount: string | undefined) => Number(amount ?? 0) > 0;

/** Progress of an account towards its first paid call; undefined: not loaded yet. Polled until that call was made. */
function useFirstSteps(): Progress | undefined {
  const paidCalls = { query: { status: 'completed', limit: 1 } } as const;
  const { data: paid } = useApi('listInvocations', paidCalls);
  const hasPaid = isPositive(paid?.totalCost);
  const isOpen = paid !== undefined && !hasPaid;
  const often = { enabled: isOpen, refetchIntervalMs: ASK_AGAIN_MS };
  useApi('listInvocations', paidCalls, often);
  const { data: keys } = useApi('listApiKeys', {}, often);
  const { data: balance } = useApi('getBalance', {}, often);
  const { data: deposits } = useApi('listPayments', { query: { type: 'deposit', limit: 1 } }, often);
  const { data: online } = useApi('listAgents', { query: { status: 'online', limit: 20 } }, often);
  const agents = online?.agents ?? [];
  return (
    paid && {
      hasKey: keys?.keys.some((key) => isLiving(key, Date.now())) ?? false,
      isFunded: isPositive(balance?.available) || isPositive(balance?.held) || (deposits?.total ?? 0) > 0,
      agent: agents.find(({ rates }) => isPositive(rates.perRequest)) ?? agents[0] ?? null,
      hasPaid,
    }
  );
}
