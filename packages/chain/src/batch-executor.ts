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

/** Puts contracts at addresses that follow from their code; it stands at one address on every chain that carries it. */
export const CREATE2_FACTORY: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

const bytecode = batchExecutor.bytecode as Hex;
const SALT = pad('0x', { size: 32 });

/** Where the executor stands, on every chain where somebody has put it. */
export const BATCH_EXECUTOR_ADDRESS: Address = getContractAddress({
  opcode: 'CREATE2',
  from: CREATE2_FACTORY,
  salt: SALT,
  bytecode,
});

/** What to send to `CREATE2_FACTORY`, from any key, to put the executor at its address. Takes 320,000 gas; a second time reverts. */
export const putBatchExecutorData: Hex = concatHex([SALT, bytecode]);
