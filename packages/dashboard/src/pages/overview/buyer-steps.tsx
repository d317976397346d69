import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import type { AccountProgress } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { useApi } from '../../app/api-query.ts';
import { useSessionInfo } from '../../app/session.ts';
import { buttonClass } from '../../ui/controls/button.tsx';
import type { Step } from '../../ui/layout/steps.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { Money } from '../../ui/values/money.tsx';
import { AddTestFunds } from '../payments/add-test-funds.tsx';
import { callSamples, fundSamples, keySamples } from './checklist-samples.ts';

/** Agents come online without an event that this page hears. */
const ASK_AGAIN_MS = 5000;

/** Steps to calls that are paid: first in the browser, then from a program. */
export function useBuyerSteps(progress: AccountProgress | undefined): readonly Step[] {
  const { hasLocalAccount } = useSessionInfo();
  const isOpen = progress !== undefined && !(progress.buyer.hasPaid && progress.buyer.hasUsedKey);
  const query = { status: 'online', limit: 20 } as const;
  const { data } = useApi('listAgents', { query }, { enabled: isOpen, refetchIntervalMs: ASK_AGAIN_MS });
  if (!progress) return [];
  const { hasCalled, isFunded, hasPaid, hasUsedKey } = progress.buyer;
  const agents = data?.agents ?? [];
  const paid = agents.find(({ rates }) => Number(rates.perRequest) > 0);
  const free = agents.find(({ rates }) => Number(rates.perRequest) === 0);
  const { origin } = location;
  return [
    {
      title: 'Call an agent',
      isDone: hasCalled,
      content: <TryAgent agent={free ?? paid} />,
    },
    {
      title: 'Add money',
      isDone: isFunded || hasPaid,
      content: (
        <>
          <FundHint isLocal={hasLocalAccount} />
          <CodeBlock label="Add money" samples={fundSamples(origin)} />
        </>
      ),
    },
    { title: 'Make a paid call', isDone: hasPaid, content: <TryAgent agent={paid} isPaid /> },
    {
      title: 'Call from your program',
      isDone: hasUsedKey,
      content: (
        <>
          <p>
            <Link to="/keys" className={buttonClass('primary', 'sm')}>
              Create an API key
            </Link>
          </p>
          <CodeBlock label="Use the key" samples={keySamples(origin)} />
          <CodeBlock label="Call from your program" samples={callSamples(origin, (paid ?? free)?.id ?? '$AGENT_ID')} />
        </>
      ),
    },
  ];
}

function TryAgent({ agent, isPaid = false }: { agent: AgentListItem | undefined; isPaid?: boolean }) {
  if (!agent)
    return (
      <p className="text-muted">
        {isPaid ? 'No agent with a price is online right now.' : 'No agents are online right now.'}{' '}
        <Link to="/agents/new" className={linkClass}>
          Register your own
        </Link>
      </p>
    );
  const { id, name, rates } = agent;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <Link
        to="/explore/$agentId"
        params={{ agentId: id }}
        search={{ tab: 'try' }}
        className={buttonClass('primary', 'sm')}
      >
        Try <bdi className="max-w-48 truncate">{name}</bdi>
      </Link>
      <span className="text-muted">
        {Number(rates.perRequest) === 0 ? (
          'Free: it runs at once.'
        ) : (
          <>
            At most <Money amount={rates.perRequest} />, and usually nothing if it fails.
          </>
        )}
      </span>
    </p>
  );
}

const FundHint = ({ isLocal }: { isLocal: boolean }) => (
  <>
    <div className="flex flex-wrap items-start gap-2">
      <AddTestFunds />
      <Link to="/payments" className={buttonClass('secondary', 'sm')}>
        Add funds
      </Link>
    </div>
    <p className="text-muted">
      Or from code, where WALLET_PRIVATE_KEY is the private key of a wallet that holds USDC
      {isLocal && ', such as one from .agent-network/local.json'}.
    </p>
  </>
);
