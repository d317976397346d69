import { ChainLink } from '../../app/chain-link.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';

/** The agent or the wallet on the other side; null: nobody. */
export const Counterparty = ({ id }: { id: string | null }) => {
  if (id === null) return <span className="text-muted">–</span>;
  return id.startsWith('0x') ? (
    <ChainLink kind="address" id={id} label="wallet" />
  ) : (
    <Copyable label="agent id" text={id} short />
  );
};
