/**
 * The limits of production, which local mode turns off because everybody there has the same address and gas costs nothing
 * (config/limits.ts, config/payments.ts). What stands there as a default for both is not named here.
 */
export const productionLimits = {
  MAX_CONNECTIONS_PER_ADDRESS: '256',
  ANONYMOUS_REQUESTS_PER_HOUR: '1000',
  SIGN_INS_PER_HOUR: '120',
  DOCUMENTS_PER_HOUR: '36000',
  DOCUMENT_BYTES_PER_MINUTE: String(32 * 1024 * 1024),
  ANSWER_BYTES_PER_MINUTE: String(64 * 1024 * 1024),
  STORED_BYTES_PER_MINUTE: String(64 * 1024 * 1024),
  MIN_PAYMENT: '0.001',
  MIN_DEPOSIT: '0.01',
  MIN_WITHDRAWAL: '0.01',
  WITHDRAWALS_PER_DAY: '20',
  MIN_REFUND: '0.01',
  REFUNDS_PER_DAY: '20',
  TOKENS_PER_DAY: '5',
  REPUTATION_FEEDBACK: 'false',
} as const;

/** Shortened, so that a minute reaches them: an enterprise account stores this much, and everything is kept as briefly as settings allow. */
export const STORAGE_MIB = 64;
export const shortenedLimits = {
  ENTERPRISE_STORAGE_MIB: String(STORAGE_MIB),
  KEEP_RESULTS_DAYS: '2',
  KEEP_STREAMS_DAYS: '2',
  KEEP_EVENTS_DAYS: '2',
} as const;

/** Addresses of attackers on this machine (Linux answers on all of 127.0.0.0/8): limits of an address tell them from others. */
export const attackerAddress = (nth: number): string => `127.0.66.${1 + nth}`;
