import { z } from 'zod';

/** Query numbers come as text; anything that is not a plain decimal integer is refused. */
export const queryInteger = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(z.int().min(min).max(max));

/** A decimal number; signs and exponents are refused. */
export const queryNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}(\.\d{1,6})?$/, `must be a number from ${min} to ${max}, with at most 6 decimals`)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

export const pageQuery = {
  limit: queryInteger(1, 100).optional(),
  offset: queryInteger(0, 10_000).optional(),
};

const Cursor = z.string().max(200).optional();

/** Cursor of a page: fast at any depth. */
export const cursorQuery = { cursor: Cursor.describe('`nextCursor` of the previous page.') };

/** A page by its cursor, or by its offset. */
export const cursorOrOffsetQuery = {
  cursor: Cursor.describe('`nextCursor` of the previous page; instead of `offset`.'),
  ...pageQuery,
};

/** A period of whole days. */
export const dayQuery = {
  startDate: z.iso.date().optional().describe('First day, UTC (YYYY-MM-DD).'),
  endDate: z.iso.date().optional().describe('Last day, UTC, included.'),
};
