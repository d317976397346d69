import type { ChainIndex } from '@agent-network/contracts/network';
import type { OperatorStatus } from '@agent-network/contracts/operator';
import type { Reserves } from '@agent-network/contracts/reserves';
import { networkName } from '../../app/network-name.ts';
import { Status } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { Detail, DetailList } from '../../ui/details.tsx';
import { groupDigits, Money } from '../../ui/money.tsx';
import { sizeText } from './figures.ts';

const grouped = (count: number) => groupDigits(String(count));

export const ReservesCard = ({ reserves }: { reserves: Reserves | null }) => (
  <Card title="Reserves" actions={reserves && <Status value={reserves.status} />}>
    {reserves === null ? (
      <p className="text-muted">The chain does not answer.</p>
    ) : (
      <DetailList>
        <Detail label="On chain">
          <Money amount={reserves.onChain} />
        </Detail>
        <Detail label="Owed">
          <Money amount={reserves.liabilities.total} />
        </Detail>
        <Detail label="Difference">
          <Money amount={reserves.difference} />
        </Detail>
        <Detail label="Loss">
          <Money amount={reserves.loss} />
        </Detail>
        <Detail label="Fees of the node">
          <Money amount={reserves.liabilities.fees} />
        </Detail>
        <Detail label="Wallet">
          <Copyable label="wallet" text={reserves.wallet} short />
        </Detail>
      </DetailList>
    )}
  </Card>
);

export const IndexCard = ({ index }: { index: ChainIndex }) => (
  <Card title="Chain index" actions={<Status value={index.state} />}>
    <DetailList>
      <Detail label="Chain">{networkName(index.chainId)}</Detail>
      <Detail label="Read up to block">{grouped(index.block)}</Detail>
      <Detail label="Head of the chain">{grouped(index.headBlock)}</Detail>
      <Detail label="Lag">{index.lagBlocks === 1 ? '1 block' : `${grouped(index.lagBlocks)} blocks`}</Detail>
    </DetailList>
  </Card>
);

export const DatabaseCard = ({ database }: { database: OperatorStatus['database'] }) => (
  <Card title="Database">
    <DetailList>
      <Detail label="Size">{sizeText(database.sizeBytes)}</Detail>
      <Detail label="Connections">
        {grouped(database.connections)} of {grouped(database.maxConnections)}
      </Detail>
    </DetailList>
  </Card>
);
