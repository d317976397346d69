import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { SignedReceipt } from '../payments/receipts.ts';
import { Id } from '../scalars.ts';
import { keylessReadHeaders } from './invocations.ts';

export const receiptEndpoints = {
  getReceipt: endpoint({
    method: 'GET',
    path: '/invoke/{requestId}/receipt',
    summary: 'The signed receipt of your finished request: who paid whom, how much, for what and with what result',
    tag: 'Invocation',
    auth: 'key',
    keyless: 'reads',
    scope: 'invoke',
    limit: 'api',
    params: z.object({ requestId: Id }),
    headers: keylessReadHeaders,
    data: SignedReceipt,
    errors: ['CONFLICT', 'GONE'],
  }),
};
