import type { ChecklistStep } from '@agent-network/contracts/network/operator';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../app/api-query.ts';
import { buttonClass } from '../../ui/controls/button.tsx';
import type { Step } from '../../ui/layout/steps.tsx';

interface Advice {
  readonly title: string;
  readonly content: ReactNode;
}

const operatorLink = (tab: string, text: string) => (
  <Link to="/operator" search={{ tab }} className={buttonClass('primary', 'sm')}>
    {text}
  </Link>
);

const advices: Readonly<Record<ChecklistStep['step'], Advice>> = {
  address: {
    title: 'Serve it at an https address',
    content: (
      <p>
        Put a proxy with a certificate in front of the node, set <code>BASE_URL</code> to its address, and restart.
      </p>
    ),
  },
  gas: {
    title: 'Give the sending keys gas',
    content: <p>{operatorLink('money', 'See the keys')}</p>,
  },
  backup: {
    title: 'Back up the database',
    content: (
      <p>
        Archive the WAL of PostgreSQL, for example with pgBackRest, and check it with{' '}
        <code>npm run operator -- backup-check</code>.
      </p>
    ),
  },
  processes: {
    title: 'Run a second process',
    content: (
      <p>
        Start the node a second time with the same <code>DATABASE_URL</code> and keys: one goes on while the other
        restarts.
      </p>
    ),
  },
  alerts: {
    title: 'Be told of trouble',
    content: (
      <p className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Link to="/webhooks" className={buttonClass('primary', 'sm')}>
          Create a webhook
        </Link>
        <span className="text-muted">
          for the event <code>reserves.drift</code>, or have Prometheus read <code>/metrics</code>.
        </span>
      </p>
    ),
  },
  terms: {
    title: 'Publish terms and a contact',
    content: (
      <p>
        Set <code>TERMS_URL</code>, <code>PRIVACY_URL</code> and <code>ABUSE_CONTACT</code>: the public pages link to
        them.
      </p>
    ),
  },
  fee: {
    title: 'Decide the fee',
    content: (
      <p>
        Set <code>PLATFORM_FEE_BPS</code>: 250 is 2.5% of what agents earn, 0 is none.{' '}
        {operatorLink('settings', 'See the settings')}
      </p>
    ),
  },
};

/** Nothing of it changes by itself within seconds. */
const ASK_AGAIN_MS = 15_000;

/** Steps to a node that others can rely on; none for accounts that are no operator's. */
export function useOperatorSteps(isOperator: boolean): readonly Step[] {
  const { data } = useApi('getOperatorChecklist', {}, { enabled: isOperator, refetchIntervalMs: ASK_AGAIN_MS });
  return (data?.steps ?? []).map(({ step, isDone, note }) => ({
    ...advices[step],
    isDone,
    ...(note === null ? {} : { aside: note }),
  }));
}
