import { useMutation, useQueryClient } from '@tanstack/react-query';
import { client } from '../../app/client.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { Secret } from '../../ui/values/secret.tsx';

import { type Eip1193Provider, useInjectedWallets } from '../../wallet/injected-wallets.ts';
import { connectWallet, signText } from '../../wallet/sign-text.ts';
import { walletSamples } from './agent-samples.ts';

interface ProveWalletProps {
  readonly agentId: string;
  /** undefined: not known yet. */
  readonly owner: string | undefined;
}

/** Lets the owner's wallet sign for the agent. Returns the token that a new owner gets. Throws errors of wallet and node. */
async function proveOwner(provider: Eip1193Provider, agentId: string, owner: string): Promise<string | null> {
  const address = await connectWallet(provider);
  if (address.toLowerCase() !== owner.toLowerCase())
    throw new Error(`The wallet is using ${address}. Switch it to the owner's account: ${owner}.`);
  const challenge = await client.verifyIdentity({ body: { agentId, proof: 'wallet' } });
  if (!('message' in challenge)) throw new Error('The node returned no message to sign.');
  const signature = await signText(provider, address, challenge.message);
  const proven = await client.verifyIdentity({ body: { challengeId: challenge.challengeId, signature } });
  return 'identityToken' in proven ? proven.identityToken : null;
}

/** Proves the owner's wallet with one of this browser; a new owner gets a new identity token. */
export function ProveWallet({ agentId, owner }: ProveWalletProps) {
  const wallets = useInjectedWallets();
  const queryClient = useQueryClient();
  const prove = useMutation({
    mutationFn: (provider: Eip1193Provider) => proveOwner(provider, agentId, owner ?? ''),
    onSuccess: (identityToken) => (identityToken === null ? queryClient.invalidateQueries() : undefined),
  });
  if (prove.data)
    return (
      <div className="space-y-3">
        <p>The agent is yours now. This is its new identity token; the old one no longer works.</p>
        <Secret value={prove.data} label="Identity token" />
        <Button onClick={() => void queryClient.invalidateQueries()}>I've saved the token</Button>
      </div>
    );
  return (
    <div className="space-y-3">
      <p className="text-muted">
        Sign with {owner ? <Copyable label="owner" text={owner} short /> : "the owner's wallet"} to verify it. Signing
        is free and moves no money.
      </p>
      {wallets.length > 0 ? (
        <div className="flex flex-wrap gap-2">
          {wallets.map(({ id, name, provider }) => (
            <Button
              key={id}
              icon="wallet"
              variant="primary"
              disabled={owner === undefined}
              isBusy={prove.isPending}
              onClick={() => prove.mutate(provider)}
            >
              Sign with {name}
            </Button>
          ))}
        </div>
      ) : (
        <CodeBlock label="How to verify the wallet" samples={walletSamples(location.origin, agentId)} />
      )}
      <ErrorNote error={prove.error} />
    </div>
  );
}
