import type { AgentInterfaces } from '@agent-network/contracts/agents/agents';
import { type CallSnippet, callSnippets } from '@agent-network/contracts/agents/call-snippets';
import { useSessionInfo } from '../../app/session.ts';
import { Card } from '../../ui/layout/card.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';

interface WaysToCallProps {
  readonly agent: {
    readonly id: string;
    readonly rates: { readonly perRequest: string };
    readonly interfaces: AgentInterfaces;
  };
}

/** The agent's call in each protocol that the node serves, to be copied. */
export function WaysToCall({ agent: { id, rates, interfaces } }: WaysToCallProps) {
  const { chainId } = useSessionInfo();
  const facts = { agentId: id, price: rates.perRequest, network: `eip155:${chainId}`, interfaces };
  const snippets: readonly CallSnippet[] = callSnippets(facts);
  return (
    <Card title="Ways to call">
      <CodeBlock label="Ways to call" samples={snippets} />
      <p className="mt-3 text-[13px] text-muted">
        Create a key under API keys. Calls with a key are paid from its treasury; an ordinary request costs{' '}
        {rates.perRequest} USDC.
      </p>
    </Card>
  );
}
