import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem';
import {
  BATCH_SETTLEMENT_ADDRESS,
  DEPOSIT_COLLECTOR_ADDRESS,
  identityRegistryByChain,
  LOCAL_CHAIN_ID,
  MULTICALL3_ADDRESS,
  payableTokens,
  reputationRegistryByChain,
} from './addresses.ts';
import {
  batchSettlementCode,
  depositCollectorCode,
  identityRegistryCode,
  multicall3Code,
  reputationRegistryCode,
  testTokenCode,
  testUsdcAbi,
  testUsdcCode,
} from './artifacts.ts';
import { callChain, callChainBatch, type RpcCall } from './chain-rpc-client.ts';

/** Funding of a wallet: ETH for fees in wei, test USDC in millionths. */
export type WalletFunding = { address: Address; ethWei: bigint; usdcMicro: bigint };

/** The account that mints test USDC. It has no private key; anvil impersonates it. */
const MINTER: Address = '0x000000000000000000000000000000000000face';

/**
 * Address of the EIP-2935 history contract. With code there, anvil writes a slot per block and rebuilds a state root over all of them for
 * each, and mining one block goes from 0.4 ms to 9 ms. Nothing on the local chain reads it.
 */
const BLOCK_HASH_HISTORY: Address = '0x0000F90827F1C53a10cb7A02335B175320002935';

const localTokens = payableTokens
  .filter(({ isLocal }) => isLocal)
  .map(({ address, symbol }) => [address, testTokenCode(symbol)] as const);

/** Contracts of public chains, and test tokens, that a chain which somebody else started may lack: ERC-8004 registries, and those of x402 channels. */
const publicContracts: readonly (readonly [address: Address, code: Hex])[] = [
  [identityRegistryByChain[LOCAL_CHAIN_ID], identityRegistryCode],
  [reputationRegistryByChain[LOCAL_CHAIN_ID], reputationRegistryCode],
  [BATCH_SETTLEMENT_ADDRESS, batchSettlementCode],
  [DEPOSIT_COLLECTOR_ADDRESS, depositCollectorCode],
  ...localTokens,
];

/** Installs our contracts at their addresses. Storage stays, so a loaded chain also gets the present code. */
export async function installContracts(rpcUrl: string, usdc: Address): Promise<void> {
  await callChainBatch(rpcUrl, [
    ['anvil_setCode', BLOCK_HASH_HISTORY, '0x'],
    ['anvil_setCode', usdc, testUsdcCode],
    ['anvil_setCode', MULTICALL3_ADDRESS, multicall3Code],
    ...publicContracts.map(([address, code]): RpcCall => ['anvil_setCode', address, code]),
  ]);
}

/** Installs contracts of public chains that a chain which somebody else started lacks; existing ones are left unchanged. */
export async function installMissingContracts(rpcUrl: string): Promise<void> {
  const codes = await callChainBatch(
    rpcUrl,
    publicContracts.map(([address]): RpcCall => ['eth_getCode', address, 'latest']),
  );
  const missing = publicContracts.filter((_, index) => codes[index] === '0x');
  if (missing.length === 0) return;
  await callChainBatch(
    rpcUrl,
    missing.map(([address, code]): RpcCall => ['anvil_setCode', address, code]),
  );
}

/** Sets each wallet's ETH and mints it test USDC on top of its balance, in ordinary transactions with Transfer events. */
export async function fundWallets(rpcUrl: string, usdc: Address, wallets: readonly WalletFunding[]): Promise<void> {
  await callChain(rpcUrl, 'anvil_impersonateAccount', MINTER);
  for (const wallet of wallets) {
    if (wallet.ethWei > 0n) await callChain(rpcUrl, ...settingOf(wallet));
    if (wallet.usdcMicro > 0n) await callChain(rpcUrl, ...mintingOf(usdc, wallet));
  }
  const { pending } = await callChain<{ pending: string }>(rpcUrl, 'txpool_status');
  if (Number(pending) > 0) await callChain(rpcUrl, 'evm_mine');
}

/** Funds wallets in few requests, on a new chain without other users, so that the minter's nonce is 0. */
export async function fundOnNewChain(rpcUrl: string, usdc: Address, wallets: readonly WalletFunding[]): Promise<void> {
  const minted = wallets.filter(({ usdcMicro }) => usdcMicro > 0n);
  // anvil answers the calls of a batch in any order.
  await callChainBatch(rpcUrl, [
    ['anvil_impersonateAccount', MINTER],
    ...wallets.filter(({ ethWei }) => ethWei > 0n).map(settingOf),
  ]);
  if (minted.length === 0) return;
  await callChainBatch(
    rpcUrl,
    minted.map((wallet, nonce) => mintingOf(usdc, wallet, nonce)),
  );
  await callChain(rpcUrl, 'evm_mine');
}

const settingOf = ({ address, ethWei }: WalletFunding): RpcCall => ['anvil_setBalance', address, numberToHex(ethWei)];

function mintingOf(usdc: Address, { address, usdcMicro }: WalletFunding, nonce?: number): RpcCall {
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args: [address, usdcMicro] });
  const order = nonce === undefined ? {} : { nonce: numberToHex(nonce) };
  return ['eth_sendTransaction', { from: MINTER, to: usdc, data, gasPrice: '0x0', ...order }];
}
