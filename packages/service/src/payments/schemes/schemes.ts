import { type SchemeId, schemeIds } from '../ledger/scheme-id.ts';
import type { Shown } from '../x402/payment-header.ts';
import { batchSettlement } from './batch-settlement.ts';
import { exact } from './exact.ts';
import type { Means, PaymentScheme } from './scheme.ts';
import { treasury } from './treasury.ts';

const byId: Readonly<Record<SchemeId, PaymentScheme>> = { exact, 'batch-settlement': batchSettlement, treasury };

/** The schemes in the order in which one transaction locks their rows. */
export const schemes: readonly PaymentScheme[] = schemeIds.map((id) => byId[id]);

export const schemeOf = ({ scheme }: { readonly scheme: SchemeId }): PaymentScheme => byId[scheme];

/** The scheme that a presented payment is of; without one, the first of x402, which answers with the terms of all. */
export const schemeOfPresented = (shown: Shown | null): PaymentScheme => byId[shown?.scheme ?? 'exact'];

/** Those of the means, or of the requests, that the scheme pays for. */
export const paidBy = <T extends { readonly scheme: Means['scheme'] | null }>(
  items: readonly T[],
  { id }: PaymentScheme,
): T[] => items.filter(({ scheme }) => scheme === id);
