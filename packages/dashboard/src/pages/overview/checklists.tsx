import type { AccountProgress } from '@agent-network/contracts/invocations/figures';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { useSession } from '../../app/session.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { type Step, Steps } from '../../ui/layout/steps.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { Icon } from '../../ui/values/icon.tsx';
import { useBuyerSteps } from './buyer-steps.tsx';
import { useOperatorSteps } from './operator-steps.tsx';
import { sellerSteps } from './seller-steps.tsx';

type Role = 'buyer' | 'seller' | 'operator';

interface Checklist {
  readonly role: Role;
  readonly title: string;
  readonly doneTitle: string;
  readonly steps: readonly Step[];
}

const texts: Readonly<Record<Role, Pick<Checklist, 'title' | 'doneTitle'>>> = {
  buyer: { title: 'Call agents', doneTitle: 'You call agents, and pay for them' },
  seller: { title: 'Earn with an agent', doneTitle: 'Your agent earns, and you have withdrawn money' },
  operator: { title: 'Run this node for others', doneTitle: 'Others can rely on this node' },
};

/** Keys are made and agents come without an event that this page hears. */
const ASK_AGAIN_MS = 3000;

/**
 * First steps of buyers, sellers and operators, ticked by what the node knows of the account. A list goes when it is done, except in the
 * visit that saw it open, or when the user dismisses it.
 */
export function Checklists() {
  const { accountId, scopes } = useSession();
  const [dismissed, setDismissed] = useState(() => readDismissed(accountId));
  const [wasOpen, setWasOpen] = useState<readonly string[]>([]);
  const lists = useChecklists(scopes.includes('operator'));
  const open = lists.filter(({ steps }) => steps.some(({ isDone }) => !isDone)).map(({ role }) => role);
  const fresh = open.filter((role) => !wasOpen.includes(role));
  if (fresh.length > 0) setWasOpen([...wasOpen, ...fresh]);
  const shown = lists.filter(({ role }) => wasOpen.includes(role) && !dismissed.includes(role));
  if (shown.length === 0) return null;
  const dismiss = (role: Role) => setDismissed(storeDismissed(accountId, [...dismissed, role]));
  return (
    <Card title="First steps" isFlush>
      <div className="divide-y divide-line">
        {shown.map((list, at) => (
          <ListRow key={list.role} list={list} isOpen={at === 0} onDismiss={() => dismiss(list.role)} />
        ))}
      </div>
    </Card>
  );
}

/** Lists for this account, in the order in which people need them; none while they are loading. */
function useChecklists(isOperator: boolean): readonly Checklist[] {
  const { data: progress } = useApi('getProgress', {}, { refetchIntervalMs: refetchOf });
  const buyer = useBuyerSteps(progress);
  const operator = useOperatorSteps(isOperator);
  if (!progress) return [];
  const lists: Checklist[] = [
    { role: 'buyer', ...texts.buyer, steps: buyer },
    { role: 'seller', ...texts.seller, steps: sellerSteps(progress.seller, location.origin) },
    { role: 'operator', ...texts.operator, steps: operator },
  ];
  return lists.filter(({ steps }) => steps.length > 0);
}

const isDone = ({ buyer, seller }: AccountProgress) =>
  [buyer, seller].every((each) => Object.values(each).every(Boolean));

const refetchOf = (progress: AccountProgress) => (isDone(progress) ? false : ASK_AGAIN_MS);

interface ListRowProps {
  readonly list: Checklist;
  readonly isOpen: boolean;
  readonly onDismiss: () => void;
}

function ListRow({ list: { title, doneTitle, steps }, isOpen, onDismiss }: ListRowProps) {
  const done = steps.filter((step) => step.isDone).length;
  const isWhole = done === steps.length;
  return (
    <details open={isOpen} className="group">
      <summary className="flex cursor-pointer list-none flex-wrap items-center gap-x-2 gap-y-1 px-4 py-3">
        <Icon name="chevronRight" className="size-4 text-muted transition-transform group-open:rotate-90" />
        <h3 className="font-medium">{isWhole ? doneTitle : title}</h3>
        <Badge tone={isWhole ? 'good' : 'neutral'}>
          {done} of {steps.length}
        </Badge>
      </summary>
      <div className="space-y-4 px-4 pb-4">
        <StepList title={title} steps={steps} />
        <Button size="sm" onClick={onDismiss}>
          Dismiss
        </Button>
      </div>
    </details>
  );
}

const Folded = ({ children }: { children: ReactNode }) => (
  <details className="min-w-0">
    <summary className="w-fit text-[13px] text-muted">How</summary>
    <div className="mt-2 space-y-2">{children}</div>
  </details>
);

/** The next step is open, the others are folded. */
function StepList({ title, steps }: Pick<Checklist, 'title' | 'steps'>) {
  const next = steps.findIndex((step) => !step.isDone);
  return (
    <Steps
      label={`Steps: ${title}`}
      steps={steps.map(({ content, ...step }, at) => ({
        ...step,
        content:
          !step.isDone && (at === next ? <div className="space-y-2">{content}</div> : <Folded>{content}</Folded>),
      }))}
    />
  );
}

const keyOf = (accountId: string) => `checklists-dismissed:${accountId}`;

/** The checklists that this account dismissed in this browser. */
function readDismissed(accountId: string): readonly string[] {
  const stored = localStorage.getItem(keyOf(accountId));
  return stored === null ? [] : stored.split(',');
}

/** Remembers dismissed checklists in this browser, and returns them. */
function storeDismissed(accountId: string, roles: readonly string[]): readonly string[] {
  localStorage.setItem(keyOf(accountId), roles.join(','));
  return roles;
}
