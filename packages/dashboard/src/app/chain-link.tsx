import { Copyable } from '../ui/controls/copyable.tsx';
import { ExternalLink } from '../ui/values/link.tsx';
import { explorerUrl } from './explorer.ts';
import { useSessionInfo } from './session.ts';

interface ChainLinkProps {
  readonly kind: 'tx' | 'address';
  readonly id: string;
  /** Kind of the value: "transaction hash". */
  readonly label: string;
  /** Only the start and the end of it are shown. */
  readonly short?: boolean;
}

/** A transaction or an address: to copy, and on a public chain to look up. The chain of local mode has the id of one, but is none. */
export function ChainLink({ kind, id, label, short = true }: ChainLinkProps) {
  const { chainId, isLocalChain } = useSessionInfo();
  const href = isLocalChain ? null : explorerUrl(chainId, kind, id);
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
