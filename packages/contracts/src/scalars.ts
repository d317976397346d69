import { z } from 'zod';
import { nameText } from './display-text.ts';
import { usdcPattern } from './money.ts';

/** Decimal USDC, at most six decimals (spec: monetary amounts are strings holding decimal numbers). */
export const Usdc = z
  .string()
  .regex(usdcPattern, 'must be a decimal USDC amount with at most 6 decimals, no sign, no exponent')
  .meta({ examples: ['0.05'] });

/** USDC in a request: a text as `Usdc`, or a JSON number that is exactly one, such as 0.05. */
export const UsdcInput = z
  .preprocess((given) => (typeof given === 'number' ? String(given) : given), Usdc)
  .meta({
    type: ['string', 'number'] as never,
    pattern: usdcPattern.source,
    examples: ['0.05'],
  }) as unknown as z.ZodType<string, string | number>;

/** Decimal USDC that may be below zero. */
export const SignedUsdc = z
  .string()
  .regex(/^-?(0|[1-9]\d{0,11})(\.\d{1,6})?$/, 'must be a decimal USDC amount with at most 6 decimals, no exponent')
  .meta({ examples: ['0.00'] });

const FIRST_TIME_MS = Date.parse('0000-01-01T00:00:00.000Z');
/** The last time with a four-digit year, the only kind that RFC 3339 has. */
export const LAST_TIME_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** False for times that their offset moves outside of those years. The format refuses invalid times. */
const hasYear = (text: string): boolean => {
  const ms = Date.parse(text);
  return !(ms < FIRST_TIME_MS || ms > LAST_TIME_MS);
};

export const Timestamp = z.iso
  .datetime({ offset: true })
  .refine(hasYear, 'is before the year 0 or after 9999')
  .meta({ examples: ['2026-11-21T10:00:00.000Z'] });

export const WalletAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x-prefixed 20-byte address')
  .meta({ examples: ['0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063'] });

export const TransactionHash = z.string().regex(/^0x[0-9a-f]{64}$/);

/** Identifiers are opaque. The node's are a prefix for the kind, then letters and digits. */
export const Id = z.string().regex(/^[\x21-\x7e]{1,100}$/, 'is not an id');

/**
 * An agent, by id, by slug, or by name. The node replaces it by the id: ids are exact and come first, then slugs, which mean one agent for
 * good; a name means the agent that is the only one with it at this node, and has its slug.
 */
export const AgentRef = nameText(120)
  .min(1)
  .describe('Id or slug of the agent, or its name if no other agent of the node has it.')
  .meta({ examples: ['agt_01k9xq3v7m2n8p4r6t0w5y1zab'] });

/** Id of a treasury: an `Id`, and on a further network also `@` and the asset in CAIP-19, with chain ids of up to 15 digits. */
export const TreasuryId = z.string().regex(/^[\x21-\x7e]{1,180}$/, 'is not an id');

/** Header by which a node identifies itself. */
export const viaHeader = z
  .string()
  .max(2048)
  .regex(/^https?:\/\/\S+$/, 'must be the base URL of a node')
  .optional();

/** Duration text with its unit, in seconds: "1.25s". */
export const Duration = z.string().meta({ examples: ['1.25s'] });

export const Fraction = z.number().min(0).max(1);

/**
 * Text that people and models read: bounded, and free of control characters other than tab and line breaks, and of halves of
 * characters (lone surrogates), which UTF-8 cannot carry.
 */
export const plainText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
    .regex(/^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]*$/, 'holds control characters')
    .refine((text) => text.isWellFormed(), 'holds halves of characters (lone surrogates)');

export const JsonObject = z.record(z.string(), z.unknown());

/** Characters that a parser of URLs drops or rewrites, or that PostgreSQL cannot hold. */
const HIDDEN_IN_URL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** A URL, kept as written; refuses invisible characters and half surrogate pairs. */
export const webUrl = (maxLength: number) =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
    .max(maxLength)
    .refine((url) => !HIDDEN_IN_URL.test(url), 'holds characters that cannot be seen');

/** Names of x402 schemes, separated by commas; a node passes over those that it does not know. */
export const PaymentSchemes = z.string().regex(/^[\x20-\x7e]{0,256}$/, 'must be names of schemes, separated by commas');
