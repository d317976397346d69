import type { AgentDetail, AgentInterfaces } from '@agent-network/contracts/agents/agents';
import { type CallSnippet, callSnippets } from '@agent-network/contracts/agents/call-snippets';
import { priceRange } from '@agent-network/contracts/agents/price-text';
import { useSessionInfo } from '../../app/session.ts';
import { Card } from '../../ui/layout/card.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';

interface WaysToCallProps {
  readonly agent: Pick<AgentDetail, 'id' | 'rates' | 'metadata'> & { readonly interfaces: AgentInterfaces };
}

/** The agent's call in each protocol that the node serves, to be copied. */
export function WaysToCall({ agent: { id, rates, metadata, interfaces } }: WaysToCallProps) {
  const { chainId } = useSessionInfo();
  const price = priceRange({ perRequest: rates.perRequest, metadata }).max;
  const facts = { agentId: id, price, network: `eip155:${chainId}`, interfaces };
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
