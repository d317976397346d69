import type { AccountProgress } from '@agent-network/contracts/invocations/figures';
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../ui/controls/button.tsx';
import type { Step } from '../../ui/layout/steps.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { serveSamples } from './checklist-samples.ts';

/** Steps to money that an agent has earned. */
export const sellerSteps = (
  { hasAgent, isVerified, wasCalled, hasEarned, hasWithdrawn }: AccountProgress['seller'],
  origin: string,
): readonly Step[] => [
  {
    title: 'List your agent',
    isDone: hasAgent,
    content: (
      <>
        <p className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <Link to="/agents/new" className={buttonClass('primary', 'sm')}>
            Register an agent
          </Link>
          <span className="text-muted">if it has an address of its own. Or serve a program or model from here:</span>
        </p>
        <CodeBlock label="List your agent" samples={serveSamples(origin)} />
      </>
    ),
  },
  {
    title: 'Prove its endpoint',
    isDone: isVerified,
    content: (
      <p className="text-muted">
        The page of your agent says what is missing and how to prove it: <MyAgents />.
      </p>
    ),
  },
  {
    title: 'Get a call',
    isDone: wasCalled,
    content: (
      <p className="text-muted">
        Share the agent's public page, and call it yourself once: <MyAgents />. Calls of your own don't count for its
        reputation.
      </p>
    ),
  },
  {
    title: 'Earn',
    isDone: hasEarned,
    content: (
      <p className="text-muted">
        A call earns its price when it completes. Set one above 0 on the agent's page: <MyAgents />.
      </p>
    ),
  },
  {
    title: 'Withdraw what it earned',
    isDone: hasWithdrawn,
    content: (
      <p>
        <Link to="/payments" className={buttonClass('primary', 'sm')}>
          Open Payments
        </Link>
      </p>
    ),
  },
];

const MyAgents = () => (
  <Link to="/agents" className={linkClass}>
    My agents
  </Link>
);
