import { type Hex, keccak256, parseAbi, toHex } from 'viem';
import agentHolder from '../artifacts/AgentHolder.json' with { type: 'json' };
import contractWallet from '../artifacts/ContractWallet.json' with { type: 'json' };
import depositCollector from '../artifacts/Erc3009DepositCollector.json' with { type: 'json' };
import identityRegistry from '../artifacts/IdentityRegistry.json' with { type: 'json' };
import multicall3 from '../artifacts/Multicall3.json' with { type: 'json' };
import reputationRegistry from '../artifacts/ReputationRegistry.json' with { type: 'json' };
import testUsdc from '../artifacts/TestUsdc.json' with { type: 'json' };
import batchSettlement from '../artifacts/X402BatchSettlement.json' with { type: 'json' };
import { usdcAbi } from './usdc-abi.ts';

/** Code to install with `anvil_setCode`; it needs no constructor. */
export const testUsdcCode = testUsdc.deployedBytecode as Hex;

/**
 * Code of the test token under another symbol of equal length. Replaces the constants of the code, and the hash of the name in its EIP-712
 * domain.
 */
export const testTokenCode = (symbol: string): Hex => {
  const constantOf = (text: string) => toHex(text).slice(2).padEnd(64, '0');
  const hashOf = (text: string) => keccak256(toHex(text)).slice(2);
  const renamed = testUsdcCode
    .replaceAll(constantOf('USDC'), constantOf(symbol))
    .replaceAll(hashOf('USDC'), hashOf(symbol));
  return renamed as Hex;
};

/** Code to install with `anvil_setCode`; it needs no constructor. */
export const multicall3Code = multicall3.deployedBytecode as Hex;

/** Code to install with `anvil_setCode`; it needs no constructor. */
export const identityRegistryCode = identityRegistry.deployedBytecode as Hex;

/** Code to install with `anvil_setCode`; it needs no constructor. It reads the identity registry at its Base Sepolia address. */
export const reputationRegistryCode = reputationRegistry.deployedBytecode as Hex;

/** Code to install with `anvil_setCode`; it needs no constructor. */
export const batchSettlementCode = batchSettlement.deployedBytecode as Hex;

/** Code to install with `anvil_setCode`; it needs no constructor. It serves the settlement contract at its published address. */
export const depositCollectorCode = depositCollector.deployedBytecode as Hex;

/** Creation code without constructor arguments. */
export const agentHolderBytecode = agentHolder.bytecode as Hex;

/** Creation code: append the owner's address as its one constructor argument. */
export const contractWalletBytecode = contractWallet.bytecode as Hex;

/** ABI of USDC with its administrator functions, which anyone may call in the test token. */
export const testUsdcAbi = [
  ...usdcAbi,
  ...parseAbi([
    'function mint(address to, uint256 value) returns (bool)',
    'function blacklist(address account)',
    'function unBlacklist(address account)',
    'function pause()',
    'function unpause()',
    'function paused() view returns (bool)',
    'function isBlacklisted(address account) view returns (bool)',
  ]),
] as const;

/** ABI of the tests' EIP-1271 wallet. */
export const contractWalletAbi = parseAbi([
  'constructor(address owner_)',
  'function owner() view returns (address)',
  'function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)',
]);

/** ABI of the tests' contract that owns agents. */
export const agentHolderAbi = parseAbi([
  'function prepare(bytes4 answer, bytes callBack)',
  'function run(address target, bytes data)',
  'function onERC721Received(address, address, uint256, bytes) returns (bytes4)',
]);
