import { z } from 'zod';

/** The x402 extension by which a wallet signs in for a resource instead of paying for it again, and its header. */
export const SIGN_IN_WITH_X = 'sign-in-with-x';

const line = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, 'holds control characters');

/** Content of the `SIGN-IN-WITH-X` header: the parts of the signed text (EIP-4361), and the signature. */
export const SignInWithX = z.object({
  domain: line(255),
  address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is not an address'),
  statement: line(1000).optional(),
  uri: line(1000),
  version: z.literal('1'),
  chainId: z.string().regex(/^eip155:\d{1,15}$/, 'is not an EIP-155 chain'),
  type: z.literal('eip191'),
  nonce: z.string().regex(/^[0-9A-Za-z]{8,96}$/, 'is not 8 to 96 letters and digits'),
  issuedAt: z.iso.datetime({ offset: true }),
  expirationTime: z.iso.datetime({ offset: true }).optional(),
  notBefore: z.iso.datetime({ offset: true }).optional(),
  requestId: line(200).optional(),
  resources: z.array(line(1000)).max(10).optional(),
  signature: z.string().regex(/^0x([0-9a-fA-F]{2}){1,4096}$/, 'is not a signature'),
});
export type SignInWithX = z.infer<typeof SignInWithX>;
