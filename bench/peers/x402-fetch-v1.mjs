/** Pays an agent with the stock version 1 client (`x402-fetch` 1.2.0). Prints the answer and its payment as JSON. */
import { createWalletClient, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';

const { url, privateKey, rpcUrl, request } = JSON.parse(process.env.CLIENT_SETTINGS ?? '{}');
const account = privateKeyToAccount(privateKey);
const wallet = createWalletClient({ account, chain: baseSepolia, transport: http(rpcUrl) }).extend(publicActions);
const response = await wrapFetchWithPayment(fetch, wallet)(url, request);
const payment = decodeXPaymentResponse(response.headers.get('x-payment-response') ?? '');
console.log(JSON.stringify({ status: response.status, answer: await response.json(), payment }));
