import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../app/client.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Fieldset } from '../../ui/controls/field.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Money } from '../../ui/values/money.tsx';
import { connectWallet, signText } from '../../wallet/sign-text.ts';
import { useWalletField } from '../../wallet/wallet-field.tsx';
import { useMoneyMoved } from './use-money-moved.ts';

type Answer = DataOf<Api['claimWallet']>;
type Challenge = Extract<Answer, { message: string }>;
type Claimed = Exclude<Answer, Challenge>;

/** Claims past and future transfers of another wallet for the account; that wallet signs. */
export function ClaimWallet() {
  const { wallet, field } = useWalletField();
  const moneyMoved = useMoneyMoved();
  const [challenge, setChallenge] = useState<Challenge | null>(null);
  const ask = useMutation({
    async mutationFn() {
      if (!wallet) return;
      const address = await connectWallet(wallet.provider);
      const asked = await client.claimWallet({ body: { address } });
      if ('message' in asked) setChallenge(asked);
    },
  });
  const claim = useMutation({
    async mutationFn({ challengeId, message, address }: Challenge): Promise<Claimed | undefined> {
      if (!wallet) return;
      const signature = await signText(wallet.provider, address, message);
      return (await client.claimWallet({ body: { challengeId, signature } })) as Claimed;
    },
    onSuccess: moneyMoved,
  });
  if (claim.data)
    return (
      <p role="status" className="rounded-md bg-good-soft px-3 py-2 text-good">
        {claim.data.amount} USDC credited. Transfers from this wallet are now credited to this account directly.
      </p>
    );
  return (
    <Fieldset legend="Sent from another wallet?">
      <div className="space-y-3">
        <p className="text-muted">Switch to that account in your wallet and sign a message to prove it's yours.</p>
        {field}
        {challenge && (
          <p>
            <Money amount={challenge.amount} /> from <Copyable label="wallet" text={challenge.address} short /> is
            waiting for its owner.
          </p>
        )}
        <ErrorNote error={claim.error ?? ask.error} />
        <div className="flex flex-wrap gap-2">
          {challenge && (
            <Button variant="primary" icon="wallet" isBusy={claim.isPending} onClick={() => claim.mutate(challenge)}>
              Sign and claim
            </Button>
          )}
          <Button isBusy={ask.isPending} disabled={!wallet || claim.isPending} onClick={() => ask.mutate()}>
            {challenge ? 'Check another' : 'Check for transfers'}
          </Button>
        </div>
      </div>
    </Fieldset>
  );
}
