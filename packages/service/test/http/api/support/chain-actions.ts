import { contractWalletBytecode, testUsdcAbi } from '@agent-network/chain/artifacts';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { encodeAbiParameters, encodeFunctionData, type Hex } from 'viem';
import type { Harness, TestWallet } from '../../../support/harness.ts';
import { until } from '../../../support/until.ts';

/** Anybody with gas and no key that matters. */
const anybody: Hex = '0x00000000000000000000000000000000000000bb';

/** Sends a transaction as a third party and waits until it is in a block; throws when it reverts. */
async function sendAsAnybody(
  h: Harness,
  transaction: { to?: string; data: Hex },
): Promise<{ contractAddress: Hex | null }> {
  await callChain(h.rpcUrl, 'anvil_setBalance', anybody, '0xde0b6b3a7640000');
  await callChain(h.rpcUrl, 'anvil_impersonateAccount', anybody);
  const hash = await callChain(h.rpcUrl, 'eth_sendTransaction', { from: anybody, ...transaction });
  const find = async () =>
    (await callChain(h.rpcUrl, 'eth_getTransactionReceipt', hash)) as { status: string; contractAddress: Hex } | null;
  const receipt = await until(find);
  if (receipt?.status !== '0x1') throw new Error('the transaction failed');
  return receipt;
}

/** Deploys a contract wallet (EIP-1271) with `owner` as its one key, and test USDC; it signs as its owner does. */
export async function newContractWallet(h: Harness, owner: TestWallet, usdcMicro: bigint): Promise<TestWallet> {
  const argument = encodeAbiParameters([{ type: 'address' }], [owner.address]);
  const { contractAddress } = await sendAsAnybody(h, { data: `${contractWalletBytecode}${argument.slice(2)}` });
  const address = contractAddress as Hex;
  const mint = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args: [address, usdcMicro] });
  await sendAsAnybody(h, { to: h.ctx.chain.token, data: mint });
  return { ...owner, address };
}

const domainOf = ({ ctx: { chain } }: Harness) => ({
  name: chain.tokenName,
  version: chain.tokenVersion,
  chainId: chain.chainId,
  verifyingContract: chain.token as Hex,
});

/** Cancels an authorization on chain before anybody used it (EIP-3009). */
export async function cancelAuthorization(h: Harness, wallet: TestWallet, nonce: Hex): Promise<void> {
  const signature = await wallet.signTypedData({
    domain: domainOf(h),
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  });
  const data = encodeFunctionData({
    abi: usdcAbi,
    functionName: 'cancelAuthorization',
    args: [wallet.address, nonce, signature],
  });
  await sendAsAnybody(h, { to: h.ctx.chain.token, data });
}

/** Submits the authorization that a v2 payment header holds, as whoever intercepts it could. */
export async function submitAuthorization(h: Harness, header: Record<string, string>): Promise<void> {
  const { payload } = JSON.parse(Buffer.from(header['payment-signature'] ?? '', 'base64').toString());
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
  const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, payload.signature] as const;
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args });
  await sendAsAnybody(h, { to: h.ctx.chain.token, data });
}
