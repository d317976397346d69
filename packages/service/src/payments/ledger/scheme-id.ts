import { x402SchemeIds } from '@agent-network/contracts/payments/x402';

/** Payment schemes in the order in which one transaction locks their rows (docs/architecture/payments.md): `exact` and `batch-settlement` are those of x402. */
export const schemeIds = [...x402SchemeIds, 'treasury'] as const;

export type SchemeId = (typeof schemeIds)[number];

/** The payer of a request. Both are null for a free call. */
export interface Payer {
  readonly scheme: SchemeId | null;
  readonly payerLedgerId: string | null;
}
