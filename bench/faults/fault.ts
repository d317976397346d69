import type { Bought } from './buyer.ts';
import type { Contender } from './contender.ts';
import type { TestPurchase } from './purchase.ts';
import type { Worker } from './worker.ts';

/** Place of a fault: one contender, its buyers, and the worker behind it. */
export interface Scene {
  readonly contender: Contender;
  readonly worker: Worker;
  readonly purchases: readonly TestPurchase[];
  /** Notes what a buyer got. */
  readonly note: (purchase: TestPurchase, bought: Bought) => void;
}

export interface Fault {
  readonly name: string;
  /** The fault of each purchase, in a sentence. */
  readonly what: string;
  /** True if the work never succeeds: then the promise is the money back. */
  readonly isWorkLost: boolean;
  run(scene: Scene): Promise<void>;
}
