import { z } from 'zod';
import { WalletSignature } from '../agents/identity.ts';
import { endpoint } from '../endpoint.ts';
import { Id, Timestamp, TreasuryId, Usdc, WalletAddress } from '../scalars.ts';
import { AssetName } from './networks.ts';

/** The two bodies of POST /payments/claims: a wallet, then its signature under the challenge. */
export const ClaimRequest = z.union([
  z.object({ address: WalletAddress.describe('The wallet that sent, or will send, USDC to the node.') }),
  WalletSignature,
]);
export type ClaimRequest = z.output<typeof ClaimRequest>;

const byAsset = z
  .array(AssetName.extend({ amount: Usdc }))
  .describe('The amount in each asset in which there is one; `amount` is that of the default network.');

const ClaimChallenge = z.object({
  challengeId: Id,
  message: z.string().describe('Sign exactly this text with the wallet (EIP-4361, EIP-191 or EIP-1271).'),
  nonce: z.string(),
  expiresAt: Timestamp,
  address: WalletAddress,
  amount: Usdc.describe('Amount that waits for the owner of the wallet.'),
  byAsset,
});

const WalletClaimed = z.object({
  address: WalletAddress,
  amount: Usdc.describe('Amount that this call credited.'),
  byAsset,
  treasuryId: TreasuryId,
  claimedAt: Timestamp,
});

export const claimEndpoints = {
  claimWallet: endpoint({
    method: 'POST',
    path: '/payments/claims',
    summary:
      'Claim the USDC that your wallet sent to the node by a plain transfer: request a challenge, then send it signed',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:write',
    limit: 'api',
    body: ClaimRequest,
    data: z.union([WalletClaimed, ClaimChallenge]),
    errors: ['NOT_FOUND'],
  }),
};
