import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem';
import { MULTICALL3_ADDRESS } from './addresses.ts';
import { multicall3Code, testUsdcAbi, testUsdcCode } from './artifacts.ts';
import { callChain, callChainBatch } from './chain-rpc-client.ts';
import { minePending } from './chain-snapshot-client.ts';

/** A wallet and what it is given: ETH for fees in wei, test USDC in millionths. */
export type WalletFunding = { address: Address; ethWei: bigint; usdcMicro: bigint };

/** The account that test USDC is minted from. Nobody has its key; anvil lets us send in its name. */
const MINTER: Address = '0x000000000000000000000000000000000000face';

/**
 * Where EIP-2935 stores past block hashes: with code there, anvil writes a slot per block and rebuilds a state root over
 * all of them for each, and mining one block goes from 0.4 ms to 9 ms. Nothing on the local chain reads it.
 */
const BLOCK_HASH_HISTORY: Address = '0x0000F90827F1C53a10cb7A02335B175320002935';

/** Puts our contracts at their addresses. Storage stays, so a loaded chain also gets the present code. */
export async function installContracts(rpcUrl: string, usdc: Address): Promise<void> {
  await callChainBatch(rpcUrl, [
    ['anvil_setCode', BLOCK_HASH_HISTORY, '0x'],
    ['anvil_setCode', usdc, testUsdcCode],
    ['anvil_setCode', MULTICALL3_ADDRESS, multicall3Code],
  ]);
}

/** Sets each wallet's ETH and mints it test USDC on top of what it has, in ordinary transactions with Transfer events. */
export async function fundWallets(rpcUrl: string, usdc: Address, wallets: readonly WalletFunding[]): Promise<void> {
  await callChain(rpcUrl, 'anvil_impersonateAccount', MINTER);
  for (const { address, ethWei, usdcMicro } of wallets) {
    if (ethWei > 0n) await callChain(rpcUrl, 'anvil_setBalance', address, numberToHex(ethWei));
    if (usdcMicro === 0n) continue;
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args: [address, usdcMicro] });
    await callChain<Hex>(rpcUrl, 'eth_sendTransaction', { from: MINTER, to: usdc, data, gasPrice: '0x0' });
  }
  await minePending(rpcUrl);
}
