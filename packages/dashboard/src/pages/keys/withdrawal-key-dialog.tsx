import { accessEndpoints } from '@agent-network/contracts/access/access';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { client } from '../../app/client.ts';
import { useSession } from '../../app/session.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Checkbox } from '../../ui/controls/checkbox.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Actions, Dialog } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Note } from '../../ui/values/note.tsx';
import type { InjectedWallet } from '../../wallet/injected-wallets.ts';
import { connectAs, signText } from '../../wallet/sign-text.ts';
import { useWalletField } from '../../wallet/wallet-field.tsx';
import { NewKey } from './new-key.tsx';

const lives = [
  { value: '3600', label: 'In an hour' },
  { value: '28800', label: 'In 8 hours' },
  { value: '86400', label: 'In a day' },
];

const initial = { name: '', expiresInS: '3600', reads: true };

interface Wish {
  readonly name: string;
  readonly scopes: ('payments:withdraw' | 'payments:read')[];
  readonly expiresInS: number;
}

const wishOf = ({ name, expiresInS, reads }: typeof initial): Wish => ({
  name: name.trim(),
  scopes: ['payments:withdraw', ...(reads ? (['payments:read'] as const) : [])],
  expiresInS: Number(expiresInS),
});

/** Creates a key that withdraws. The account's wallet signs for its scopes and its lifetime each time: a session alone cannot create one. */
export function WithdrawalKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<{ name: string; apiKey: string } | null>(null);
  const [isSent, setIsSent] = useState(false);
  return made ? (
    <Dialog isOpen isModalOnly onClose={onClose} title={`Withdrawal key created: ${made.name}`}>
      <NewKey secret={made.apiKey} onDone={onClose}>
        Anyone who has this key can withdraw your USDC until it expires. Revoke it as soon as you are done with it.
      </NewKey>
    </Dialog>
  ) : (
    <Dialog isOpen isModalOnly={isSent} onClose={onClose} title="Create a withdrawal key">
      <WithdrawalKeyForm isSent={isSent} onCancel={onClose} onSent={setIsSent} onMade={setMade} />
    </Dialog>
  );
}

interface FormProps {
  /** True from the sending of the signature until the answer is there: it has the secret, which is shown once. */
  readonly isSent: boolean;
  readonly onCancel: () => void;
  readonly onSent: (isSent: boolean) => void;
  readonly onMade: (key: { name: string; apiKey: string }) => void;
}

function WithdrawalKeyForm({ isSent, onCancel, onSent, onMade }: FormProps) {
  const { address } = useSession();
  const { wallet, field } = useWalletField();
  const create = useSignedKey(wallet, address, onSent);
  const form = useForm({
    initial,
    // A key made by signing has the name and the scopes of any other.
    schema: accessEndpoints.createApiKey.body,
    toBody: (values) => ({ name: wishOf(values).name, scopes: wishOf(values).scopes }),
    onSubmit: (_body, values) => create.mutateAsync(wishOf(values)).then(onMade),
  });
  const { values, set, error } = form;
  return (
    <form onSubmit={form.submit} noValidate className="space-y-4">
      <Note tone="warn" title="This key can move your money">
        <p>
          It can send all the USDC in your treasuries to any wallet, without asking you again. It can't call agents or
          create other keys. It expires after a day at most, and you can revoke it at any time.
        </p>
      </Note>
      <Field label="Name" isRequired error={error('name')} hint="Purpose of the key, such as “payroll script”.">
        <TextInput value={values.name} onChange={(name) => set('name', name)} autoComplete="off" maxLength={120} />
      </Field>
      <Field label="Expires" error={error('expiresInS')}>
        <Select value={values.expiresInS} onChange={(expiresInS) => set('expiresInS', expiresInS)} options={lives} />
      </Field>
      <Checkbox
        label="Can also read balances and statements"
        isChecked={values.reads}
        onChange={(reads) => set('reads', reads)}
      />
      {field}
      <div className="text-[13px] text-muted">
        The account's wallet <Copyable label="wallet" text={address} short /> signs a message that names these scopes
        and this lifetime. Signing costs nothing and moves no money.
      </div>
      <ErrorNote error={form.failure} />
      <Actions>
        <Button onClick={onCancel} disabled={isSent}>
          Cancel
        </Button>
        <Button type="submit" variant="primary" isBusy={form.isBusy} disabled={wallet === null}>
          Sign and create key
        </Button>
      </Actions>
    </form>
  );
}

/**
 * Creates a key after the wallet has signed; leaving before that cancels it. If the answer is lost, the key exists all the same, is in the
 * list and can be revoked there.
 */
function useSignedKey(wallet: InjectedWallet | null, address: string, onSent: (isSent: boolean) => void) {
  const queryClient = useQueryClient();
  const isLeft = useRef(false);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);
  return useMutation({
    async mutationFn({ name, scopes, expiresInS }: Wish) {
      if (!wallet) throw new Error("Open this page in a browser that has the account's wallet.");
      await connectAs(wallet.provider, address);
      const asked = await client.requestSignIn({ body: { address, scopes, expiresInS } });
      const signature = await signText(wallet.provider, address, asked.message);
      if (isLeft.current) throw new Error('The dialog was left before the wallet had signed: no key was made.');
      onSent(true);
      return client
        .signIn({ body: { challengeId: asked.challengeId, signature, name, scopes, expiresInS } })
        .finally(() => onSent(false));
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['listApiKeys'] }),
  });
}
