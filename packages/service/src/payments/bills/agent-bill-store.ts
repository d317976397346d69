import type { Sql } from '../../store/sql.ts';
import type { PaymentProof } from '../x402/payment-proof.ts';

export interface NewAgentBill extends PaymentProof {
  readonly requestId: string;
  readonly paymentId: string;
  /** AgentTerms as JSON. */
  readonly terms: string;
}

export async function insertAgentBill(sql: Sql, bill: NewAgentBill, now: Date): Promise<void> {
  await sql.query(
    'insert-agent-bill',
    `insert into agent_bill (request_id, payment_id, terms, header_name, header_value, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [bill.requestId, bill.paymentId, bill.terms, bill.headerName, bill.headerValue, now],
  );
}

export async function findPaymentProof(sql: Sql, requestId: string): Promise<PaymentProof | null> {
  const rows = await sql.query<PaymentProof>(
    'find-payment-proof',
    `select header_name as "headerName", header_value as "headerValue" from agent_bill where request_id = $1`,
    [requestId],
  );
  return rows[0] ?? null;
}
