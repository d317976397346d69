import type { Reserves } from '@agent-network/contracts/payments/reserves';
import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Detail, Details } from '../../ui/layout/details.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { Badge, type Tone } from '../../ui/values/badge.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { ExactTime } from '../../ui/values/time-ago.tsx';
import { type ReserveLine, reserveLines, reserveTexts } from './reserves.ts';

const tones: Readonly<Record<Reserves['status'], Tone>> = { balanced: 'good', settling: 'warn', drift: 'bad' };

/** The node's balance on chain beside its liabilities. */
export function ReservesPanel() {
  const { data, error, refetch } = useApi('getReserves', {}, { refetchIntervalMs: 30_000 });
  if (!data)
    return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-64 w-full" />;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-2">
      <Card title="Assets and liabilities" actions={<Badge tone={tones[data.status]}>{data.status}</Badge>}>
        <p className="mb-4 text-muted">{reserveTexts[data.status]}</p>
        <Sum label="Proof of reserves" lines={reserveLines(data)} />
      </Card>
      <div className="min-w-0 space-y-5">
        <Card title="Liabilities">
          <Sum
            label="Liabilities"
            lines={[
              { label: 'Treasuries of accounts', amount: data.liabilities.treasuries },
              { label: 'Earnings of agents', amount: data.liabilities.agents },
              { label: 'Wallet payments for open calls', amount: data.liabilities.payers },
              { label: 'Pending refunds and withdrawals', amount: data.liabilities.outgoing },
              { label: 'From unverified wallets', amount: data.liabilities.suspense },
              { label: 'Node fees', amount: data.liabilities.fees },
              { label: 'Total', amount: data.liabilities.total, isTotal: true },
            ]}
          />
        </Card>
        <Card title="Verify it yourself">
          <Details>
            <Detail label="Wallet">
              <ChainLink kind="address" id={data.wallet} label="wallet of the node" />
            </Detail>
            <Detail label="At block">{groupDigits(String(data.block.number))}</Detail>
            <Detail label="As of">
              <ExactTime at={data.asOf} />
            </Detail>
            <Detail label="Fee on earnings">{data.platformFeeBps / 100} %</Detail>
            <Detail label="Incoming">
              <Money amount={data.inFlight.incoming} />
            </Detail>
            <Detail label="Outgoing">
              <Money amount={data.inFlight.outgoing} />
            </Detail>
          </Details>
        </Card>
      </div>
    </div>
  );
}

const Sum = ({ label, lines }: { label: string; lines: readonly ReserveLine[] }) => (
  <table aria-label={label} className="w-full">
    <tbody>
      {lines.map(({ label: what, hint, amount, isTotal }) => (
        <tr
          key={what}
          className={isTotal ? 'border-t border-line-strong font-semibold' : 'border-t border-line first:border-t-0'}
        >
          <th scope="row" className={`py-2 pr-4 text-left align-top ${isTotal ? 'font-semibold' : 'font-normal'}`}>
            {what}
            {hint && <div className="text-[13px] font-normal text-muted">{hint}</div>}
          </th>
          <td className="py-2 text-right align-top">
            <Money amount={amount} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
