import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { encodeFunctionData, type Hex, parseSignature } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type SignedAuthorization, transferCall } from '../../src/chain/settlement-call.ts';
import { isTransfer, type PresentedTransfer } from '../../src/payments/schemes/exact/exact-on-wire.ts';
import { x402Schemes } from '../../src/payments/schemes/schemes.ts';
import { readPaymentHeader } from '../../src/payments/x402/payment-header.ts';
import type { TestWallet } from './harness.ts';
import type { TokenHost } from './x402-payer.ts';

const stranger = () => privateKeyToAccount(generatePrivateKey()).address;

/** Sends a transaction in anybody's name and waits for its block. Throws when it reverts. */
export async function sendAs(
  rpcUrl: string,
  from: string,
  to: string,
  data: Hex,
  gas: Hex = '0x1c00000',
): Promise<string> {
  await callChain(rpcUrl, 'anvil_impersonateAccount', from);
  const hash = await callChain<string>(rpcUrl, 'eth_sendTransaction', { from, to, data, gas, gasPrice: '0x0' });
  for (;;) {
    const receipt = await callChain<{ status: string } | null>(rpcUrl, 'eth_getTransactionReceipt', hash);
    if (receipt?.status === '0x0') throw new Error(`transaction ${hash} reverted`);
    if (receipt) return hash;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Returns the signed part of a payment header. */
export function paymentIn(headers: Record<string, string>): PresentedTransfer {
  const shown = readPaymentHeader(headers, x402Schemes);
  if (!shown || !isTransfer(shown)) throw new Error('no payment in these headers');
  return shown;
}

/** A third party that saw the payment submits it; answers the transaction. */
export const submitPayment = (rpcUrl: string, host: TokenHost, headers: Record<string, string>): Promise<string> =>
  submitSigned(rpcUrl, host, paymentIn(headers));

export const submitSigned = (rpcUrl: string, host: TokenHost, signed: SignedAuthorization): Promise<string> =>
  sendAs(rpcUrl, stranger(), host.ctx.chain.token, transferCall(signed));

/** The payer takes all its money elsewhere. */
export async function emptyWallet(
  rpcUrl: string,
  host: TokenHost,
  wallet: { readonly address: string },
  micro: bigint,
): Promise<void> {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'transfer', args: [stranger(), micro] });
  await sendAs(rpcUrl, wallet.address, host.ctx.chain.token, data);
}

/** Somebody gives a wallet test USDC. */
export async function refillWallet(
  rpcUrl: string,
  host: TokenHost,
  wallet: { readonly address: string },
  micro: bigint,
): Promise<void> {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args: [wallet.address as Hex, micro] });
  await sendAs(rpcUrl, stranger(), host.ctx.chain.token, data);
}

/** The payer cancels the authorization (EIP-3009). */
export async function cancelPayment(
  rpcUrl: string,
  host: TokenHost,
  wallet: TestWallet,
  headers: Record<string, string>,
): Promise<void> {
  const { tokenName: name, tokenVersion: version, chainId, token } = host.ctx.chain;
  const nonce = paymentIn(headers).authorization.nonce as Hex;
  const signature = await wallet.signTypedData({
    domain: { name, version, chainId, verifyingContract: token as Hex },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  });
  const { r, s, v } = parseSignature(signature);
  const data = encodeFunctionData({
    abi: testUsdcAbi,
    functionName: 'cancelAuthorization',
    args: [wallet.address, nonce, Number(v), r, s],
  });
  await sendAs(rpcUrl, stranger(), token, data);
}

/** A wallet sends USDC the plain way (ERC-20 `transfer`); answers the transaction. */
export function transferUsdc(
  rpcUrl: string,
  host: TokenHost,
  { from, to, micro }: { from: string; to: string; micro: bigint },
): Promise<string> {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'transfer', args: [to as Hex, micro] });
  return sendAs(rpcUrl, from, host.ctx.chain.token, data);
}
