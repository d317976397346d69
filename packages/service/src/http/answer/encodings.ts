import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';

export type Encoding = 'br' | 'gzip';

/** True if an Accept-Encoding header names the encoding with a weight above 0. */
export function acceptsEncoding(header: string | undefined, encoding: Encoding): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => {
    const [name, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** Size from which answers are compressed; for smaller ones it costs more than it saves. */
export const COMPRESSED_FROM_BYTES = 8 * 1024;
const KEPT_BYTES = 8 * 1024 * 1024;
const MAX_AT_ONCE = 2;

const compress: Readonly<Record<Encoding, (bytes: Uint8Array) => Promise<Buffer<ArrayBuffer>>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) as Promise<
      Buffer<ArrayBuffer>
    >,
  gzip: (bytes) => promisify(gzip)(bytes, { level: 5 }) as Promise<Buffer<ArrayBuffer>>,
};

/** Compresses public answers off the event loop, and keeps the bytes of the last ones. */
export interface Compressor {
  /** The compressed bytes for a tag; null when too many others are being compressed: then send the answer uncompressed. */
  compressed(tag: string, encoding: Encoding, bytes: Uint8Array): Promise<Buffer<ArrayBuffer> | null>;
}

export function createCompressor(): Compressor {
  const kept = new LRUCache<string, Buffer<ArrayBuffer>>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength,
  });
  const working = createSemaphore(MAX_AT_ONCE);
  const nameOf = (tag: string, encoding: Encoding) => `${tag} ${encoding}`;
  async function make(tag: string, encoding: Encoding, bytes: Uint8Array) {
    if (working.free() === 0) return null;
    const made = await working.run(() => compress[encoding](bytes));
    kept.set(nameOf(tag, encoding), made);
    return made;
  }
  const makeOnce = singleFlight(make, nameOf);
  return {
    compressed: async (tag, encoding, bytes) => kept.get(nameOf(tag, encoding)) ?? makeOnce(tag, encoding, bytes),
  };
}
