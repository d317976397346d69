/** Pays an agent with the stock version 2 client (`@x402/fetch` 2.27). Prints the answer and its payment as JSON. */
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const { url, privateKey, request } = JSON.parse(process.env.CLIENT_SETTINGS ?? '{}');
const client = new x402Client().register('eip155:84532', new ExactEvmScheme(privateKeyToAccount(privateKey)));
const response = await wrapFetchWithPayment(fetch, client)(url, request);
const payment = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
console.log(JSON.stringify({ status: response.status, answer: await response.json(), payment }));
