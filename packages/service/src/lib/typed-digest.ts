import { keccak256 } from './keccak.ts';

type Hex = `0x${string}`;

/** Keccak-256 of hex parts, one after another. */
export const hashOf = (...parts: readonly string[]): Hex =>
  keccak256(Buffer.from(parts.map((part) => part.slice(2)).join(''), 'hex'));

/** A number as a word of the ABI. */
export const word = (value: bigint | number): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** An address as a word of the ABI. */
export const addressWord = (address: string): Hex => `0x${address.slice(2).padStart(64, '0')}`;

/** Hash of a type's declaration in EIP-712. */
export const typeHash = (declaration: string): Hex => keccak256(Buffer.from(declaration));

/** The digest that is signed in EIP-712: of a structure in a domain. */
export const typedDigest = (domainSeparator: string, structHash: string): Hex =>
  hashOf('0x1901', domainSeparator, structHash);
