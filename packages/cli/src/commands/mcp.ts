import { createInterface } from 'node:readline';
import { parseUsdc } from '@agent-network/contracts/money';
import type { Command } from 'commander';
import { action } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import { createMcpRelay } from '../mcp/mcp-relay.ts';
import { usdc } from '../output/arguments.ts';
import type { Session } from '../session.ts';

export function addMcp(program: Command): void {
  program
    .command('mcp')
    .option('--max-per-call <usdc>', 'refuse calls that may cost more', usdc)
    .description(
      "an MCP server on stdin and stdout with the node's tools, paid by the account's treasury or the wallet",
    )
    .action(action<[{ maxPerCall?: string }]>(serveMcp));
}

/** Reads a message per line, and writes the node's answers. Ends with stdin, once all are answered. */
async function serveMcp(session: Session, { maxPerCall }: { maxPerCall?: string }): Promise<void> {
  const { url, apiKey, walletKey } = session;
  if (walletKey && !maxPerCall && !apiKey)
    throw new CommandError('Set a limit with --max-per-call: the wallet pays without asking.');
  const relay = createMcpRelay({
    url,
    apiKey,
    maxPerCallMicro: maxPerCall === undefined ? null : parseUsdc(maxPerCall),
    payer: walletKey && maxPerCall ? session.payer(maxPerCall) : null,
    write: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  });
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const work = relay(line);
    running.add(work);
    void work.finally(() => running.delete(work));
  }
  await Promise.all(running);
}
