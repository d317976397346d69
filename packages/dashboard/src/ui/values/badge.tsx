import type { ReactNode } from 'react';

const tones = {
  neutral: 'bg-sunken text-muted',
  accent: 'bg-accent-soft text-accent-text',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
} as const;
export type Tone = keyof typeof tones;

/** Class of a badge, for links that look like one. */
export const badgeClass = (tone: Tone = 'neutral'): string =>
  `inline-flex items-center gap-1 rounded-full px-2 py-px text-xs leading-5 font-medium whitespace-nowrap ${tones[tone]}`;

export const Badge = ({ tone, children }: { tone?: Tone; children: ReactNode }) => (
  <span className={badgeClass(tone)}>{children}</span>
);

const toneByStatus: Readonly<Record<string, Tone>> = {
  pending: 'warn',
  processing: 'accent',
  input_required: 'warn',
  completed: 'good',
  confirmed: 'good',
  settled: 'good',
  delivered: 'good',
  verified: 'good',
  online: 'good',
  enabled: 'good',
  done: 'good',
  balanced: 'good',
  active: 'good',
  live: 'good',
  failed: 'bad',
  reversed: 'bad',
  lost: 'bad',
  failing: 'bad',
  drift: 'bad',
  stalled: 'bad',
  disabled: 'bad',
  syncing: 'warn',
  settling: 'warn',
  paused: 'warn',
  refused: 'warn',
  unknown: 'warn',
  unverified: 'warn',
  pending_verification: 'warn',
  due: 'warn',
  sent: 'accent',
  claimed: 'good',
  charged: 'good',
  open: 'good',
  refunding: 'accent',
  withdrawing: 'warn',
  registered: 'good',
  degraded: 'warn',
};

/** A state of anything, in the words of the API. */
export const Status = ({ value }: { value: string }) => (
  <Badge tone={toneByStatus[value] ?? 'neutral'}>
    <span className="size-1.5 rounded-full bg-current" aria-hidden="true" />
    {value.replaceAll('_', ' ')}
  </Badge>
);
