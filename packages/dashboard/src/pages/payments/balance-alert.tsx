import { parseUsdc } from '@agent-network/contracts/money';
import type { Balance } from '@agent-network/contracts/payments/payments';
import { paymentEndpoints } from '@agent-network/contracts/payments/payments';
import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { NumberInput } from '../../ui/controls/text-input.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Note } from '../../ui/values/note.tsx';
import { nameTreasuries, withAccount } from './treasury.ts';

/** Available in the account's treasury, whatever the limits of a key. */
const inAccount = ({ treasuries }: Balance): string => withAccount(nameTreasuries(treasuries))[0].available;

/** A note while the account's treasury has less than its owner wants; `actions`: how to add funds. */
export function LowBalance({ balance, actions }: { balance: Balance | undefined; actions: React.ReactNode }) {
  if (!balance?.alertBelow || parseUsdc(inAccount(balance)) >= parseUsdc(balance.alertBelow)) return null;
  return (
    <Note tone="warn" title="Low balance" actions={actions}>
      The account's treasury has {inAccount(balance)} USDC, less than the {balance.alertBelow} USDC that you set.
    </Note>
  );
}

/** The limit below which `balance.low` is sent, and a button that changes it. */
export function AlertLine({ balance }: { balance: Balance | undefined }) {
  const [isOpen, setOpen] = useState(false);
  if (!balance) return null;
  const { alertBelow } = balance;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-2 text-[13px] text-muted">
      {alertBelow === null ? 'No low-balance alert is set.' : `Alert when less than ${alertBelow} USDC is left.`}
      <Button size="sm" onClick={() => setOpen(true)}>
        {alertBelow === null ? 'Set an alert' : 'Change'}
      </Button>
      {isOpen && <AlertDialog alertBelow={alertBelow} onClose={() => setOpen(false)} />}
    </p>
  );
}

function AlertDialog({ alertBelow, onClose }: { alertBelow: string | null; onClose: () => void }) {
  const save = useApiMutation('setBalanceAlert', { invalidates: ['getBalance'] });
  const form = useForm({
    initial: { below: alertBelow ?? '' },
    schema: paymentEndpoints.setBalanceAlert.body,
    toBody: ({ below }) => ({ below: below.trim() === '' ? null : below.trim() }),
    async onSubmit(body) {
      await save.mutateAsync({ body: { below: body.below === null ? null : String(body.below) } });
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Low-balance alert"
      description="You see it here, and webhooks get the event balance.low."
    >
      <form onSubmit={form.submit} noValidate className="space-y-4">
        <Field label="Alert below" error={form.error('below')} hint="Leave empty for no alert.">
          <NumberInput unit="USDC" value={form.values.below} onChange={(below) => form.set('below', below)} />
        </Field>
        <ErrorNote error={form.failure} />
        <Actions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isBusy={form.isBusy}>
            Save
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
