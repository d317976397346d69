import { mayHaveHappened } from '@agent-network/sdk';
import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { client } from '../../app/client.ts';
import { useSessionInfo } from '../../app/session.ts';
import { Button } from '../../ui/controls/button.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { useMoneyMoved } from './use-money-moved.ts';

interface AddTestFundsProps {
  readonly variant?: 'primary' | 'secondary';
  readonly size?: 'sm' | 'md';
  readonly onAdded?: () => void;
}

/**
 * Adds test USDC to the account's treasury, signed by the node: no wallet is needed. Shows nothing on a node that gives none, as on every
 * network with real money. While it is not known whether money came, another press asks for the same deposit.
 */
export function AddTestFunds({ variant = 'primary', size = 'sm', onAdded }: AddTestFundsProps) {
  const { testFunds } = useSessionInfo();
  const moneyMoved = useMoneyMoved();
  const key = useRef<string | null>(null);
  const add = useMutation({
    async mutationFn() {
      key.current ??= crypto.randomUUID();
      try {
        const added = await client.addTestFunds({}, { idempotencyKey: key.current });
        key.current = null;
        return added;
      } catch (error) {
        if (!mayHaveHappened(error)) key.current = null;
        throw error;
      }
    },
    onSuccess({ amount }) {
      toast(`${amount} test USDC added`);
      onAdded?.();
    },
    onSettled: moneyMoved,
  });
  if (testFunds === null) return null;
  return (
    <div className="space-y-2">
      <Button variant={variant} size={size} icon="plus" isBusy={add.isPending} onClick={() => add.mutate()}>
        Add {testFunds.replace(/\.0+$/, '')} test USDC
      </Button>
      <ErrorNote error={add.error} />
    </div>
  );
}
