import type { Reserves } from '@agent-network/contracts/payments/reserves';
import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Detail, Details } from '../../ui/layout/details.tsx';
import { Waiting } from '../../ui/layout/waiting.tsx';
import { Badge, type Tone } from '../../ui/values/badge.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';
import { percentText } from '../../ui/values/percent.ts';
import { ExactTime } from '../../ui/values/time-ago.tsx';

interface ReserveLine {
  readonly label: string;
  readonly hint?: string;
  readonly amount: string;
  readonly isTotal?: boolean;
}

/** Label of each reserves status. */
const reserveTexts: Readonly<Record<Reserves['status'], string>> = {
  balanced: "The node's wallet holds exactly what its books say.",
  settling: 'The difference matches, to the micro-USDC, payments that are on chain but not yet in the books.',
  drift: "The node's balance differs from its books, and pending payments do not explain it.",
};

const negated = (amount: string): string => {
  if (/^-?[0.]+$/.test(amount)) return amount.replace('-', '');
  return amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
};

/** The equation of the reserves, line by line, from the balance on chain to the liabilities. */
const reserveLines = (reserves: Reserves): readonly ReserveLine[] => [
  { label: 'Held on chain', hint: 'by the wallet of the node, at the block', amount: reserves.onChain },
  {
    label: 'Booked after that block',
    hint: 'payments received minus payments sent',
    amount: reserves.bookedAfterBlock,
  },
  {
    label: 'Minus the unexplained difference',
    hint: 'what the books do not explain',
    amount: negated(reserves.difference),
  },
  { label: 'Lost to reorganisations', hint: 'a loss the node must cover', amount: reserves.loss },
  { label: 'Total owed', amount: reserves.liabilities.total, isTotal: true },
];

const tones: Readonly<Record<Reserves['status'], Tone>> = { balanced: 'good', settling: 'warn', drift: 'bad' };

/** Compares the node's balance on chain with its liabilities. */
export function ReservesPanel() {
  const { data, error, refetch } = useApi('getReserves', {}, { refetchIntervalMs: 30_000 });
  if (!data) return <Waiting error={error} onRetry={() => void refetch()} />;
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
            <Detail label="At block">{groupDigits(data.block.number)}</Detail>
            <Detail label="As of">
              <ExactTime at={data.asOf} />
            </Detail>
            <Detail label="Fee on earnings">{percentText(data.platformFeeBps / 10_000)}</Detail>
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
