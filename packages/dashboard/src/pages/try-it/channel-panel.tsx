import type { OpenChannel } from '@agent-network/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useSessionInfo } from '../../app/session.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { NumberInput } from '../../ui/controls/text-input.tsx';
import { FactRow } from '../../ui/layout/fact-row.tsx';
import { toast } from '../../ui/overlays/toasts.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Money } from '../../ui/values/money.tsx';
import { closeChannel, findChannel } from '../../wallet/channel-payer.ts';
import type { InjectedWallet } from '../../wallet/injected-wallets.ts';
import { planOf } from './channel-plan.ts';

const KEY = 'channel of a wallet';

/** The channel of a wallet with this node; null: none. Read again after each call. */
export function useWalletChannel(wallet: InjectedWallet | undefined, calls: unknown) {
  const { chainId, usdc } = useSessionInfo();
  return useQuery<OpenChannel | null>({
    queryKey: [KEY, wallet?.id, calls],
    enabled: wallet !== undefined,
    staleTime: 0,
    queryFn: () => (wallet ? findChannel(wallet.provider, { chainId, usdc }) : null),
  });
}

interface ChannelPanelProps {
  readonly wallet: InjectedWallet;
  readonly price: string;
  readonly channel: OpenChannel | null | undefined;
  readonly error: unknown;
  readonly deposit: string;
  readonly onDeposit: (deposit: string) => void;
}

/** The signatures that the wallet will be asked for, before it is; the channel's remaining amount, and its end. */
export function ChannelPanel({ wallet, price, channel, error, deposit, onDeposit }: ChannelPanelProps) {
  if (error) return <ErrorNote error={error} />;
  if (channel === undefined) return <p className="text-muted">Looking for the wallet's channel…</p>;
  const { left, needsDeposit, problem } = planOf(price, deposit, channel);
  return (
    <div className="space-y-3 rounded-md border border-line bg-sunken p-3">
      {channel && <OpenedChannel wallet={wallet} left={left} />}
      {needsDeposit && (
        <Field label="Deposit" isRequired error={problem}>
          <NumberInput unit="USDC" value={deposit} onChange={onDeposit} />
        </Field>
      )}
      <p className="text-[13px] text-muted">
        {needsDeposit
          ? `The wallet signs twice: a deposit of ${deposit.trim() || '…'} USDC into a payment channel, which leaves the wallet, and a voucher for this call. Later calls take one signature each, and unspent USDC is refunded when you close the channel.`
          : 'The wallet signs a voucher for this call. Nothing leaves the wallet.'}
      </p>
    </div>
  );
}

function OpenedChannel({ wallet, left }: { wallet: InjectedWallet; left: string }) {
  const { chainId, usdc } = useSessionInfo();
  const queries = useQueryClient();
  const close = useMutation({
    mutationFn: () => closeChannel(wallet.provider, { chainId, usdc }),
    onSuccess: (closed) =>
      toast(
        closed.map(({ refunded }) => `${refunded} USDC refunded to the wallet`).join(', ') || 'Nothing left to refund',
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: [KEY] }),
  });
  const isEmpty = Number(left) === 0;
  return (
    <>
      <dl>
        <FactRow label="Left in the channel">
          <Money amount={left} />
        </FactRow>
      </dl>
      {!isEmpty && (
        <Button size="sm" className="w-full" isBusy={close.isPending} onClick={() => close.mutate()}>
          Close the channel: refund {left} USDC
        </Button>
      )}
      <ErrorNote error={close.error} />
    </>
  );
}
