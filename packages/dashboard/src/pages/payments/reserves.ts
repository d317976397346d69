import type { Reserves } from '@agent-network/contracts/payments/reserves';

export interface ReserveLine {
  readonly label: string;
  readonly hint?: string;
  readonly amount: string;
  readonly isTotal?: boolean;
}

/** Label of each reserves status. */
export const reserveTexts: Readonly<Record<Reserves['status'], string>> = {
  balanced: "The node's wallet holds exactly what its books say.",
  settling: 'The difference matches, to the micro-USDC, payments that are on chain but not yet in the books.',
  drift: "The node's balance differs from its books, and pending payments do not explain it.",
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
