/** A time as the wire has it. */
export const iso = (date: Date | null): string | null => date?.toISOString() ?? null;
