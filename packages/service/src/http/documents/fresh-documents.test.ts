import { afterEach, expect, it, vi } from 'vitest';
import { createFreshDocuments, MAX_KEPT, MAX_KEPT_BYTES } from './fresh-documents.ts';

afterEach(() => void vi.useRealTimers());

it('a document that is too old takes no place of one that is being read', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const fresh = createFreshDocuments<string>();
  const slow = Promise.withResolvers<string>();
  let reads = 0;
  const readSlowly = () => {
    reads += 1;
    return slow.promise;
  };
  const first = fresh('slow', readSlowly);
  const readOthers = async (kind: string) => {
    for (let nth = 0; nth < MAX_KEPT - 1; nth++) await fresh(`${kind} ${nth}`, async () => kind);
  };
  await readOthers('early');
  vi.advanceTimersByTime(1000);
  await readOthers('late');
  const second = fresh('slow', readSlowly);
  slow.resolve('read');
  expect([await first, await second, reads]).toEqual(['read', 'read', 1]);
});

it('a document is read again after a second, and a failure as well', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const fresh = createFreshDocuments<number>();
  let reads = 0;
  const read = async () => {
    reads += 1;
    if (reads === 1) throw new Error('away');
    return reads;
  };
  await expect(fresh('one', read)).rejects.toThrow('away');
  vi.advanceTimersByTime(999);
  await expect(fresh('one', read)).rejects.toThrow('away');
  vi.advanceTimersByTime(1);
  expect(await fresh('one', read)).toBe(2);
  expect(await fresh('one', read)).toBe(2);
});

it('documents are kept up to a number of bytes in all', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const fresh = createFreshDocuments<{ bytes: Buffer }>();
  const bytes = Buffer.alloc(MAX_KEPT_BYTES / 4);
  let reads = 0;
  const read = async () => {
    reads += 1;
    return { bytes };
  };
  for (let nth = 0; nth < 5; nth++) await fresh(`${nth}`, read);
  await fresh('4', read);
  expect(reads).toBe(5);
  await fresh('0', read);
  expect(reads).toBe(6);
});
