import type { TokenLink } from '@agent-network/contracts/agents/identity';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { type Eip1193Provider, useInjectedWallets } from '../../wallet/injected-wallets.ts';
import { sendCall } from '../../wallet/send-call.ts';

/** Has the owner's wallet send the transaction by which a linked token points to the agent. */
export function PointToken({ link }: { link: TokenLink }) {
  const wallets = useInjectedWallets();
  const queryClient = useQueryClient();
  const send = useMutation({
    mutationFn: (provider: Eip1193Provider) =>
      sendCall(provider, { chainId: link.chainId, from: link.owner, ...link.call }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['getIdentity'] }),
  });
  return (
    <div className="mt-3 space-y-3">
      <p>
        Linked. Other nodes recognise the token once it points to this agent. Set that with a transaction from the
        owner's wallet.
      </p>
      <div className="flex flex-wrap items-center gap-2">
        {wallets.map(({ id, name, provider }) => (
          <Button
            key={id}
            icon="wallet"
            isBusy={send.isPending}
            disabled={send.isSuccess}
            onClick={() => send.mutate(provider)}
          >
            Send with {name}
          </Button>
        ))}
        {send.data && (
          <span role="status">
            Sent: <Copyable label="transaction hash" text={send.data} short />
          </span>
        )}
      </div>
      {wallets.length === 0 && (
        <CodeBlock
          label="The transaction"
          samples={[
            { label: 'cast', code: `cast send ${link.call.to} ${link.call.data} --from ${link.owner}` },
            { label: 'Points to', code: link.agentURI },
          ]}
        />
      )}
      <ErrorNote error={send.error} />
    </div>
  );
}
