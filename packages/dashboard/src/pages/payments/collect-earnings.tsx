import type { Balance } from '@agent-network/contracts/payments/payments';
import { mayHaveHappened } from '@agent-network/sdk';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { client } from '../../app/client.ts';
import { Button, type ButtonProps } from '../../ui/controls/button.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { hasEarnings } from './spendable.ts';
import { useMoneyMoved } from './use-money-moved.ts';

interface CollectEarningsProps extends Pick<ButtonProps, 'size' | 'variant'> {
  /** undefined: of all agents. */
  readonly agentId?: string | undefined;
  readonly children: string;
}

/**
 * Moves earnings to the account's treasury, from where calls are paid. While it is not known whether that was done, another press asks for
 * the same again.
 */
export function CollectEarnings({ agentId, children, ...button }: CollectEarningsProps) {
  const moneyMoved = useMoneyMoved();
  const key = useRef<string | null>(null);
  const collect = useMutation({
    async mutationFn() {
      key.current ??= crypto.randomUUID();
      try {
        const body = agentId === undefined ? {} : { agentId };
        const collected = await client.collectEarnings({ body }, { idempotencyKey: key.current });
        key.current = null;
        return collected;
      } catch (error) {
        if (!mayHaveHappened(error)) key.current = null;
        throw error;
      }
    },
    onSuccess: ({ amount, left }) =>
      toast(
        left.length === 0 ? `${amount} USDC collected` : `${amount} USDC collected; ${left.length} agents left out`,
      ),
    onSettled: moneyMoved,
  });
  return (
    <div className="space-y-2">
      <Button {...button} isBusy={collect.isPending} onClick={() => collect.mutate()}>
        {children}
      </Button>
      <ErrorNote error={collect.error} />
    </div>
  );
}

/** Hint of the earnings: a button that collects them, or their source if there are none. */
export const EarningsHint = ({ balance }: { balance: Pick<Balance, 'earnings'> | undefined }) =>
  hasEarnings(balance) ? <CollectEarnings size="sm">Collect all</CollectEarnings> : 'of your agents';
