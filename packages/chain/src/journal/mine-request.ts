export type MineRequest = {
  blocks: number;
  intervalS: number;
  atS?: number | undefined;
};

const MAX_BLOCKS = 10_000;

/**
 * Parses the parameters of `evm_mine` ([], [time] or [{ timestamp, blocks }]) and of `anvil_mine` ([blocks?, seconds between them?]).
 * Returns a text when they are invalid.
 */
export function blocksAsked(method: string, params: readonly unknown[]): MineRequest | string {
  const [first, second] = params;
  if (typeof first === 'object' && first !== null) {
    const { blocks = 1, timestamp } = first as { blocks?: unknown; timestamp?: unknown };
    return checked({ blocks: Number(blocks), intervalS: 0, atS: optional(timestamp) });
  }
  if (method === 'evm_mine') return checked({ blocks: 1, intervalS: 0, atS: optional(first) });
  return checked({ blocks: optional(first) ?? 1, intervalS: optional(second) ?? 0 });
}

const optional = (value: unknown): number | undefined =>
  value === undefined || value === null ? undefined : Number(value);

function checked(request: MineRequest): MineRequest | string {
  const { blocks, intervalS, atS = 0 } = request;
  if (![blocks, intervalS, atS].every((value) => Number.isSafeInteger(value) && value >= 0))
    return 'blocks, interval and time are whole numbers';
  return blocks <= MAX_BLOCKS ? request : `at most ${MAX_BLOCKS} blocks at once`;
}
