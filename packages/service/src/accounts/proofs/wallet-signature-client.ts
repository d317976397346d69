import { createPublicClient, type Hex, hashMessage, verifyMessage } from 'viem';
import { hasContractSigned } from '../../chain/keys/contract-wallet-client.ts';
import { rpcTransport } from '../../chain/rpc/rpc-transport.ts';

export type SignatureMethod = 'eip191' | 'eip1271';

export interface WalletSignatures {
  /**
   * The method by which the wallet signed the text; null when it did not. Throws when the signature can only be checked on chain and the
   * chain does not answer.
   */
  judge(signed: { address: string; message: string; signature: string }): Promise<SignatureMethod | null>;
}

const TIMEOUT_MS = 10_000;

/** Verifies text signatures: of a key by recovery (EIP-191), of a contract wallet by calling it (EIP-1271). */
export function createWalletSignatures(options: { rpcUrl: string; timeoutMs?: number }): WalletSignatures {
  const client = createPublicClient({
    transport: rpcTransport(options.rpcUrl, { timeout: options.timeoutMs ?? TIMEOUT_MS, retryCount: 1 }),
  });

  return {
    async judge({ address, message, signature }) {
      const wallet = { address: address as Hex, message, signature: signature as Hex };
      // verifyMessage throws on input that is not a key signature at all.
      if (await verifyMessage(wallet).catch(() => false)) return 'eip191';
      const asked = { address: wallet.address, digest: hashMessage(message), signature: wallet.signature };
      return (await hasContractSigned(client, asked)) ? 'eip1271' : null;
    },
  };
}
