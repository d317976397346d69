import type { Tx } from '../store/sql.ts';
import { listTerms, type SaleTerms, termsGuard } from './agent-terms-store.ts';

export { type SaleTerms, termsGuard };

/** The present terms of each of these agents, by id; removed agents have none. */
export async function readTerms(tx: Tx, ids: Iterable<string>): Promise<ReadonlyMap<string, SaleTerms>> {
  const rows = await listTerms(tx, [...new Set(ids)]);
  return new Map(rows.map((row) => [row.id, row]));
}
