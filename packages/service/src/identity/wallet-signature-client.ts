import { createPublicClient, type Hex, hashMessage, http, verifyMessage } from 'viem';
import { hasContractSigned } from '../chain/contract-wallet-client.ts';

export type SignatureMethod = 'eip191' | 'eip1271';

export interface WalletSignatures {
  /** How the wallet signed the text; null when it did not. Throws when only the chain could tell and it can't be asked. */
  judge(signed: { address: string; message: string; signature: string }): Promise<SignatureMethod | null>;
}

export interface HasWalletSignatures {
  readonly walletSignatures: WalletSignatures;
}

const TIMEOUT_MS = 10_000;

/** Checks signatures of texts: a key's by itself (EIP-191), a contract wallet's by asking it (EIP-1271). */
export function createWalletSignatures(options: { rpcUrl: string; timeoutMs?: number }): WalletSignatures {
  const client = createPublicClient({
    transport: http(options.rpcUrl, { timeout: options.timeoutMs ?? TIMEOUT_MS, retryCount: 1 }),
  });

  return {
    async judge({ address, message, signature }) {
      const wallet = { address: address as Hex, message, signature: signature as Hex };
      // It throws on what is no signature of a key at all.
      if (await verifyMessage(wallet).catch(() => false)) return 'eip191';
      const asked = { address: wallet.address, digest: hashMessage(message), signature: wallet.signature };
      return (await hasContractSigned(client, asked)) ? 'eip1271' : null;
    },
  };
}
