/** Pays an agent by hand as x402 version 1 has it: terms from the body, the signed payment in `X-PAYMENT`. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import { readChain } from './chain-reads.ts';
import { agentNamed, firstWallet, type Local, type LocalWallet, runExample } from './local.ts';

interface V1Offer {
  readonly scheme: string;
  readonly network: string;
  readonly maxAmountRequired: string;
  readonly payTo: `0x${string}`;
  readonly maxTimeoutSeconds: number;
  readonly asset: `0x${string}`;
  readonly extra: { readonly name: string; readonly version: string };
}

const transferWithAuthorization = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

async function signPayment(offer: V1Offer, chainId: number, wallet: LocalWallet): Promise<string> {
  const nowS = Math.floor(Date.now() / 1000);
  const authorization = {
    from: wallet.address,
    to: offer.payTo,
    value: BigInt(offer.maxAmountRequired),
    validAfter: BigInt(nowS - 600),
    validBefore: BigInt(nowS + offer.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}` as const,
  };
  const signature = await privateKeyToAccount(wallet.privateKey).signTypedData({
    domain: { name: offer.extra.name, version: offer.extra.version, chainId, verifyingContract: offer.asset },
    types: { TransferWithAuthorization: transferWithAuthorization },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  });
  const { scheme, network } = offer;
  const payment = { x402Version: 1, scheme, network, payload: { signature, authorization } };
  const json = JSON.stringify(payment, (_key, value) => (typeof value === 'bigint' ? value.toString() : value));
  return Buffer.from(json).toString('base64');
}

export async function run(local: Local): Promise<void> {
  const wallet = firstWallet(local);
  const chain = readChain(local);
  const invoke = (headers: Record<string, string>) =>
    fetch(`${local.baseUrl}/invoke/${agentNamed(local, 'Echo').id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${local.apiKey}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ task: 'say hello', input: { version: 1 } }),
    });

  const unpaid = await invoke({ 'x-payment-method': 'x402' });
  const terms = (await unpaid.json()) as { x402Version: number; accepts: V1Offer[]; error: { payment: object } };
  assert.equal(unpaid.status, 402);
  assert.equal(terms.x402Version, 1);
  const offer = terms.accepts[0];
  assert.ok(offer && offer.scheme === 'exact' && offer.asset.toLowerCase() === local.chain.usdc.toLowerCase());

  const before = await chain.usdcOf(wallet.address);
  const header = { 'x-payment': await signPayment(offer, local.chain.chainId, wallet) };
  const paid = await invoke(header);
  const { data } = (await paid.json()) as { data: Record<string, string> & { result: unknown } };
  assert.equal(paid.status, 200);
  assert.deepEqual(data.result, { echo: { task: 'say hello', input: { version: 1 } } });

  const price = BigInt(offer.maxAmountRequired);
  const paymentHash = data.paymentHash as `0x${string}`;
  assert.equal(before - (await chain.usdcOf(wallet.address)), price, 'exactly the price left the wallet');
  assert.equal(await chain.usdcMovedBy(paymentHash, wallet.address), price, 'paymentHash is the transfer');
  const settlement = JSON.parse(Buffer.from(paid.headers.get('x-payment-response') ?? '', 'base64').toString());
  assert.equal(settlement.transaction, paymentHash);

  const again = (await (await invoke(header)).json()) as { data: { requestId: string } };
  assert.equal(again.data.requestId, data.requestId, 'the same payment gives the same request');
  assert.equal(before - (await chain.usdcOf(wallet.address)), price, 'and is not taken twice');
  console.log(`Paid ${data.cost} USDC in ${paymentHash} with X-PAYMENT; showing it again cost nothing`);
}

if (import.meta.main) await runExample(run);
