import { startLocalChain } from '@agent-network/chain/local-chain';
import { privateKeyToAddress } from 'viem/accounts';

// The chain of deploy/debian/walk.sh, in the place of Base Sepolia. Gives a wallet 10 test USDC. Usage: node walk-chain-child.ts <port> <private key>

const [port, key] = process.argv.slice(2);
const address = privateKeyToAddress(key as `0x${string}`);
await startLocalChain({ port: Number(port), wallets: [{ address, ethWei: 0n, usdcMicro: 10_000_000n }] });
process.stdout.write('chain is ready\n');
