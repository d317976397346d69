const WEI_DIGITS = 18;
const SHOWN_DIGITS = 6;

/** An amount of wei in ETH, cut after six digits: "0.9983". */
export function ethText(wei: string): string {
  const digits = wei.padStart(WEI_DIGITS + 1, '0');
  const whole = digits.slice(0, -WEI_DIGITS);
  const fraction = digits.slice(-WEI_DIGITS).slice(0, SHOWN_DIGITS).replace(/0+$/, '');
  return fraction ? `${whole}.${fraction}` : whole;
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** 1 234 567 → "1.2 MB". */
export function sizeText(bytes: number): string {
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${(bytes / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}

/** "callbacks_due" → "callbacks due". */
export const kindText = (kind: string): string => queueNames[kind] ?? kind.replaceAll('_', ' ');

const queueNames: Readonly<Record<string, string>> = {
  invocations_waiting: 'Calls that wait for a free slot',
  invocations_open: 'Calls that have not ended',
  events_to_tell: 'Events to hand to webhooks',
  deliveries_new: 'Webhooks to send',
  deliveries_retrying: 'Webhooks to send again',
  agent_checks_due: 'Health checks of agents that are due',
  registry_writes: 'Entries to write to the shared registry',
  outcomes_to_count: 'Calls to count for reputations',
  figures_to_fold: 'Calls to add to the totals',
};
