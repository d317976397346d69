import type { Reserves } from '@agent-network/contracts/payments/reserves';

export interface ReserveLine {
  readonly label: string;
  readonly hint?: string;
  readonly amount: string;
  readonly isTotal?: boolean;
}

/** Label of each reserves status. */
export const reserveTexts: Readonly<Record<Reserves['status'], string>> = {
  balanced: 'The wallet of the node holds exactly what its books say.',
  settling: 'The difference equals, to the last micro-USDC, payments that are on chain and not in the books yet.',
  drift: 'The balance of the node differs from its books, and pending payments do not explain it.',
};

const negated = (amount: string): string => {
  if (/^-?[0.]+$/.test(amount)) return amount.replace('-', '');
  return amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
};

/** The sum that always holds, line by line: what is on the chain, and how it comes to what is owed. */
export const reserveLines = (reserves: Reserves): readonly ReserveLine[] => [
  { label: 'Held on chain', hint: 'by the wallet of the node, at the block', amount: reserves.onChain },
  {
    label: 'Booked after that block',
    hint: 'payments received, less payments sent',
    amount: reserves.bookedAfterBlock,
  },
  { label: 'Less the difference', hint: 'what the books do not explain', amount: negated(reserves.difference) },
  { label: 'Taken back by the chain', hint: 'a loss that the node must cover', amount: reserves.loss },
  { label: 'Owed in all', amount: reserves.liabilities.total, isTotal: true },
];
