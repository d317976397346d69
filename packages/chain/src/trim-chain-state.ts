const KEPT_BLOCKS = 256;
const KEPT_TRANSACTIONS = 20_000;

type DumpedState = {
  best_block_number: number;
  blocks: { header: { number: string }; transactions: unknown[] }[];
  transactions: { block_number: number }[];
};

/**
 * Drops old empty blocks, and all but the newest transactions, from anvil's dumped state, so that a chain which ran for weeks starts small.
 * Balances and nonces are untouched. Keeps the first block, the newest 256, and every block with a kept transaction. Returns text unchanged
 * when JavaScript cannot represent it exactly (integers of 16 digits and more).
 */
export function trimChainState(
  text: string,
  limits = { blocks: KEPT_BLOCKS, transactions: KEPT_TRANSACTIONS },
): string {
  if (/[:,[]\d{16}/.test(text)) return text;
  const state = JSON.parse(text) as DumpedState;
  if (state.blocks.length <= limits.blocks) return text;
  const transactions = state.transactions
    .toSorted((a, b) => a.block_number - b.block_number)
    .slice(-limits.transactions);
  const firstKeptNumber = transactions[0]?.block_number ?? 0;
  const numbers = new Set(transactions.map((transaction) => transaction.block_number));
  const blocks = state.blocks.filter(({ header }) => {
    const number = Number(header.number);
    return number === 0 || number > state.best_block_number - limits.blocks || numbers.has(number);
  });
  for (const block of blocks) if (Number(block.header.number) < firstKeptNumber) block.transactions = [];
  return JSON.stringify({ ...state, blocks, transactions });
}
