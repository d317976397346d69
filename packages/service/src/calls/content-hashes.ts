import { hash } from 'node:crypto';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import { fileRefsOf } from '../files/file-refs.ts';

/** SHA-256 of the UTF-8 bytes of a value's canonical JSON (RFC 8785). */
export const hashOfJson = (value: unknown): Buffer => hash('sha256', canonicalJson(value), 'buffer');

const NO_RESULT = Buffer.alloc(32);

interface Contents {
  readonly input: unknown;
  readonly context: string | null;
  readonly result: unknown;
  readonly isCompleted: boolean;
}

/** The hashes of input, context and result, and of their files if there are any, one behind the other: 96 bytes, or 128. */
export function contentHashes({ input, context, result, isCompleted }: Contents): Buffer {
  const files = fileRefsOf(isCompleted ? [input, result] : input).sort();
  const hashes = [hashOfJson(input), hashOfJson(context), isCompleted ? hashOfJson(result) : NO_RESULT];
  return Buffer.concat(files.length === 0 ? hashes : [...hashes, hashOfJson(files)]);
}

/** `filesHash` null: there are no files. */
export const readContentHashes = (hashes: Buffer) => ({
  inputHash: hexOf(hashes.subarray(0, 32)),
  contextHash: hexOf(hashes.subarray(32, 64)),
  resultHash: hexOf(hashes.subarray(64, 96)),
  filesHash: hashes.byteLength > 96 ? hexOf(hashes.subarray(96)) : null,
});

export const hexOf = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;
