import { getAddress } from 'viem';
import { createNodeKeys } from '../src/chain/keys/node-keys.ts';
import { readConfig } from '../src/config/config.ts';

// Prints the addresses of the node's private keys, to send ETH to. Reads the settings of the node: node --env-file=<file> <this script>

try {
  const { wallet, senders, registrar } = createNodeKeys(readConfig(process.env).secrets);
  const keys = [
    ['SETTLEMENT_PRIVATE_KEY', wallet],
    ...senders.filter((sender) => sender !== wallet).map((sender) => ['SENDER_PRIVATE_KEYS', sender] as const),
    ['REGISTRAR_PRIVATE_KEY', registrar],
  ] as const;
  for (const [name, key] of keys) if (key) console.log(`${getAddress(key.address)}  ${name}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
