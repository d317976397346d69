import { Copyable } from '../ui/copyable.tsx';
import { ExternalLink } from '../ui/link.tsx';
import { explorerUrl } from './explorer.ts';
import { useSessionInfo } from './session.ts';

interface ChainLinkProps {
  readonly what: 'tx' | 'address';
  readonly id: string;
  /** What it is: "owner". */
  readonly label: string;
}

/** An address or transaction to copy, with the way to it in a block explorer where there is one. */
export function ChainLink({ what, id, label }: ChainLinkProps) {
  const url = explorerUrl(useSessionInfo(), what, id);
  return (
    <span className="inline-flex max-w-full flex-wrap items-center justify-end gap-x-2">
      <Copyable label={label} text={id} short />
      {url && <ExternalLink href={url}>explorer</ExternalLink>}
    </span>
  );
}
