import { Link } from '@tanstack/react-router';
import { ChainLink } from '../../app/chain-link.tsx';
import { Copyable } from '../../ui/controls/copyable.tsx';
import { dash } from '../../ui/values/dash.tsx';
import { linkClass } from '../../ui/values/link.tsx';

/** The agent by its name, or the wallet on the other side; null: none. */
export const Counterparty = ({ id, name }: { id: string | null; name: string | null }) => {
  if (id === null) return dash;
  if (id.startsWith('0x')) return <ChainLink kind="address" id={id} label="wallet" />;
  if (name === null) return <Copyable label="agent id" text={id} short />;
  return (
    <Link to="/explore/$agentId" params={{ agentId: id }} className={`${linkClass} block max-w-48 truncate`}>
      <bdi>{name}</bdi>
    </Link>
  );
};
