/** Failpoints: the commits of the paid path and of the registry, and their calls to the chain and to agents. */
const steps = [
  'handle',
  'take-key',
  'keep-answer',
  'take-secret',
  'simulate',
  'open-payer',
  'accept-commit',
  'bulk-commit',
  'test-grant-commit',
  'claim-deposit-commit',
  'write-ahead-commit',
  'send',
  'read-mined',
  'record-commit',
  'agent-call',
  'ask-commit',
  'answer-commit',
  'sign-bill-commit',
  'end-bill-commit',
  'finish-commit',
  'bulk-finish-commit',
  'collect-commit',
  'withdrawal-hold-commit',
  'withdrawal-commit',
  'pay-owed',
  'sign-payout-commit',
  'reconcile-commit',
  'read-transfers',
  'credit-commit',
  'credit-unshown-commit',
  'claim-wallet-commit',
  'channel-deposit-commit',
  'channel-read',
  'channel-read-commit',
  'registry-write-commit',
  'registry-record-commit',
  'channel-claim-commit',
  'channel-record-commit',
  'channel-book-commit',
  'channel-refund-commit',
  'file-begin-commit',
  'file-piece',
  'file-keep-commit',
  'file-leave-commit',
  'file-remove',
] as const;

type Step = (typeof steps)[number];

/** A place where a test can kill the process. test/flows/crash-points.test.ts and test/registry/write/crash.test.ts try each. */
export type Failpoint = `before-${Step}` | `after-${Step}`;

export const failpoints: readonly Failpoint[] = steps.flatMap((step) => [`before-${step}`, `after-${step}`] as const);

export interface ArmedFailpoint {
  readonly name: Failpoint;
  /** The process dies at the n-th pass. */
  readonly hit: number;
}

let armed: ArmedFailpoint | null = null;
let hits = 0;

/** Parses `name` or `name:n`; null for an unknown name. */
export function parseFailpoint(text: string): ArmedFailpoint | null {
  const [name = '', count = '1', ...rest] = text.split(':');
  const isKnown = (known: string): known is Failpoint => (failpoints as readonly string[]).includes(known);
  return isKnown(name) && /^[1-9]\d{0,5}$/.test(count) && rest.length === 0 ? { name, hit: Number(count) } : null;
}

/** Arms a failpoint: this process dies there. For tests; the configuration refuses it in production. */
export function armFailpoint(failpoint: ArmedFailpoint): void {
  armed = failpoint;
  hits = 0;
}

/** Kills the process, as by a power cut, if this place is armed; otherwise does nothing, at almost no cost. */
export function failpoint(name: Failpoint): void {
  if (armed === null || armed.name !== name) return;
  hits += 1;
  if (hits === armed.hit) process.kill(process.pid, 'SIGKILL');
}
