import { hash } from 'node:crypto';
import { canonicalJson } from '@agent-network/contracts/canonical-json';

/** SHA-256 of the UTF-8 bytes of a value's canonical JSON (RFC 8785). */
export const hashOfJson = (value: unknown): Buffer => hash('sha256', canonicalJson(value), 'buffer');

const NO_RESULT = Buffer.alloc(32);

interface Contents {
  readonly input: unknown;
  readonly context: string | null;
  readonly result: unknown;
  readonly isCompleted: boolean;
}

/** The hashes of input, context and result, one behind the other: 96 bytes. */
export const contentHashes = ({ input, context, result, isCompleted }: Contents): Buffer =>
  Buffer.concat([hashOfJson(input), hashOfJson(context), isCompleted ? hashOfJson(result) : NO_RESULT]);

export const readContentHashes = (hashes: Buffer) => ({
  inputHash: hexOf(hashes.subarray(0, 32)),
  contextHash: hexOf(hashes.subarray(32, 64)),
  resultHash: hexOf(hashes.subarray(64)),
});

export const hexOf = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;
