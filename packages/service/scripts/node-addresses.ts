import { privateKeyToAddress } from 'viem/accounts';
import { readConfig } from '../src/config.ts';

// Prints the addresses of the node's private keys, to send ETH to. Reads the settings of the node: node --env-file=<file> <this script>

try {
  const { settlementPrivateKey, senderPrivateKeys, registrarPrivateKey } = readConfig(process.env).secrets;
  const keys = [
    ['SETTLEMENT_PRIVATE_KEY', settlementPrivateKey],
    ...(senderPrivateKeys ?? []).map((key) => ['SENDER_PRIVATE_KEYS', key] as const),
    ['REGISTRAR_PRIVATE_KEY', registrarPrivateKey === 'none' ? null : registrarPrivateKey],
  ] as const;
  for (const [name, key] of keys) if (key) console.log(`${privateKeyToAddress(key)}  ${name}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
