import { identityEndpoints, type TokenLink } from '@agent-network/contracts/agents/identity';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useApiMutation } from '../../app/api-query.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Badge } from '../../ui/values/badge.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { type Eip1193Provider, useInjectedWallets } from '../../wallet/injected-wallets.ts';
import { sendCall } from '../../wallet/send-call.ts';

interface LinkTokenProps {
  readonly agentId: string;
  /** The token that the agent has already, which does not point to it; empty: it has none of its owner's. */
  readonly tokenId: string;
}

/** Links a token that the owner already holds to the agent, and then points the token to it. */
export function LinkToken({ agentId, tokenId }: LinkTokenProps) {
  const link = useApiMutation('linkToken', { invalidates: ['listOwnAgents', 'getIdentity'] });
  const form = useForm({
    initial: { tokenId },
    schema: identityEndpoints.linkToken.body,
    onSubmit: (body) => link.mutateAsync({ params: { id: agentId }, body }),
  });
  return (
    <details open={tokenId !== '' || undefined}>
      <summary className="w-fit text-muted">
        {tokenId ? "It doesn't point to this agent" : 'I already have a token'}
      </summary>
      <form onSubmit={form.submit} noValidate className="mt-2 max-w-md space-y-3">
        <Field
          label="Token number"
          error={form.error('tokenId')}
          hint="A registry token in the owner's wallet. It will represent this agent."
        >
          <TextInput
            inputMode="numeric"
            value={form.values.tokenId}
            onChange={(value) => form.set('tokenId', value)}
            autoComplete="off"
          />
        </Field>
        <Button type="submit" isBusy={form.isBusy}>
          Link token
        </Button>
        <ErrorNote error={form.failure} />
      </form>
      {link.data && <Linked link={link.data} />}
    </details>
  );
}

const Linked = ({ link }: { link: TokenLink }) =>
  link.pointsThere ? (
    <p role="status" className="mt-3">
      <Badge tone="good">linked</Badge> The token points to the agent.
    </p>
  ) : (
    <PointToken link={link} />
  );

/** Has the owner's wallet send the transaction by which a linked token points to the agent. */
function PointToken({ link }: { link: TokenLink }) {
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
