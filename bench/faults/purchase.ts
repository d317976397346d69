import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';

export const PRICE = '0.01';
export const PRICE_MICRO = 10_000n;

/** Something that a buyer wants done once, from a wallet that is used for nothing else. */
export interface TestPurchase {
  /** Also the buyer's Idempotency-Key. */
  readonly id: string;
  readonly payerKey: `0x${string}`;
  /** In lower case, as logs and raw transactions have it. */
  readonly payer: `0x${string}`;
}

export const newPurchases = (prefix: string, count: number): TestPurchase[] =>
  Array.from({ length: count }, (_, index) => {
    const payerKey = generatePrivateKey();
    return { id: `${prefix}-${index}`, payerKey, payer: privateKeyToAddress(payerKey).toLowerCase() as `0x${string}` };
  });

/** Works on all items, on at most `lanes` at once. */
export async function inLanes<T>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const lane = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
