import { Copyable } from '../ui/controls/copyable.tsx';
import { dash } from '../ui/values/dash.tsx';
import { ExternalLink } from '../ui/values/link.tsx';
import { useSessionInfo } from './session.ts';

const explorers: Readonly<Record<number, string>> = {
  8453: 'https://basescan.org',
  84532: 'https://sepolia.basescan.org',
  42161: 'https://arbiscan.io',
  421614: 'https://sepolia.arbiscan.io',
  137: 'https://polygonscan.com',
  80002: 'https://amoy.polygonscan.com',
  43114: 'https://snowtrace.io',
  10: 'https://optimistic.etherscan.io',
};

/** Returns the block explorer's URL on a public chain; null for private chains. */
function explorerUrl(chainId: number, kind: 'tx' | 'address' | 'block', id: string): string | null {
  const base = explorers[chainId];
  return base === undefined ? null : `${base}/${kind}/${encodeURIComponent(id)}`;
}

interface ChainLinkProps {
  readonly kind: 'tx' | 'address';
  /** null: there is none yet. */
  readonly id: string | null;
  /** Kind of the value: "wallet"; default: the transaction hash. */
  readonly label?: string;
  /** CAIP-2 id of its network; default: the node's default network. */
  readonly network?: string | undefined;
  /** Only the start and the end of it are shown. */
  readonly short?: boolean;
}

/** A transaction or an address: to copy, and on a public chain to look up. The chain of local mode has the id of one, but is none. */
export function ChainLink({ kind, id, label = 'transaction hash', network, short = true }: ChainLinkProps) {
  const { chainId, isLocalChain } = useSessionInfo();
  if (id === null) return dash;
  const href = isLocalChain ? null : explorerUrl(network ? Number(network.split(':')[1]) : chainId, kind, id);
  return (
    <span className="inline-flex max-w-full items-center gap-2">
      <Copyable label={label} text={id} short={short} />
      {href && (
        <span className="relative z-10 text-[13px]">
          <ExternalLink href={href}>Explorer</ExternalLink>
        </span>
      )}
    </span>
  );
}
