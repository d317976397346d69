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
  settling:
    'The difference is, to the last micro-USDC, payments that the chain has and the books will have in a moment.',
  drift: 'The wallet holds something else than the books say, and no payment on its way explains it.',
};

const negated = (amount: string): string => {
  if (/^-?[0.]+$/.test(amount)) return amount.replace('-', '');
  return amount.startsWith('-') ? amount.slice(1) : `-${amount}`;
};

/** The sum that always holds, line by line: what is on the chain, and how it comes to what is owed. */
export const reserveLines = (reserves: Reserves): readonly ReserveLine[] => [
  { label: 'Held on chain', hint: 'by the wallet of the node, at the block', amount: reserves.onChain },
  { label: 'Booked after that block', hint: 'what came in, less what went out', amount: reserves.bookedAfterBlock },
  { label: 'Less the difference', hint: 'what the books do not explain', amount: negated(reserves.difference) },
  { label: 'Taken back by the chain', hint: 'which the node must make good', amount: reserves.loss },
  { label: 'Owed in all', amount: reserves.liabilities.total, isTotal: true },
];
