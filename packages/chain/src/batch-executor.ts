import { type Address, concatHex, getContractAddress, type Hex, pad, parseAbi } from 'viem';
import batchExecutor from '../artifacts/BatchExecutor.json' with { type: 'json' };

/** The code that a key delegates to (EIP-7702) to make several calls in one transaction, in its own name. */
export const batchExecutorAbi = parseAbi([
  'struct Call { address target; bytes data; }',
  'function execute(Call[] calls)',
  'function onERC721Received(address, address, uint256, bytes) pure returns (bytes4)',
  'event CallFailed(uint256 indexed place, bytes reason)',
  'error NotSelf(address caller)',
]);

/**
 * The deterministic deployment proxy: deploys contracts at addresses derived from their code; it has the same address on every chain that
 * carries it.
 */
export const CREATE2_FACTORY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

const bytecode = batchExecutor.bytecode as Hex;
const SALT = pad('0x', { size: 32 });

/** Address of the executor on every chain on which it has been deployed. */
export const BATCH_EXECUTOR_ADDRESS: Address = getContractAddress({
  opcode: 'CREATE2',
  from: CREATE2_FACTORY,
  salt: SALT,
  bytecode,
});

/** Calldata for `CREATE2_FACTORY` that deploys the executor, from any key. Uses 320,000 gas; a second deployment reverts. */
export const putBatchExecutorData: Hex = concatHex([SALT, bytecode]);
