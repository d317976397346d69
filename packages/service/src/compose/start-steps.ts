import type { StartStep } from '../lib/telemetry/start-progress.ts';

const step = (name: string, doing: string, remedy: string): StartStep => ({ name, doing, remedy });

/** The steps of a start, in their order. */
export const startSteps = {
  code: step(
    'code',
    'loading the program',
    'run "npm ci" again, which restores what is missing; see README.md for the versions of Node.js.',
  ),
  database: step(
    'database',
    'starting PostgreSQL',
    'make sure that the disk has room and that DATA_DIR belongs to you, or set DATABASE_URL to a PostgreSQL server of your own.',
  ),
  tables: step(
    'tables',
    'creating or updating the tables',
    'check that DATABASE_URL names a reachable database of this node; docs/upgrading.md has the order of an upgrade.',
  ),
  chain: step(
    'chain',
    'starting the local chain with its contracts and test money',
    'run "npm ci" without --omit=optional, which brings the chain (anvil), or set CHAIN_RPC_URL.',
  ),
  connections: step(
    'network',
    'connecting to the database and the chain',
    'check that DATABASE_URL and CHAIN_RPC_URL answer, and that CHAIN_ID is the id of that chain.',
  ),
  books: step(
    'books',
    'comparing the books with the chain, and loading the registry',
    'check that CHAIN_RPC_URL answers and is the chain of this database; see docs/when-something-fails.md.',
  ),
  accounts: step(
    'accounts',
    'opening the local accounts with keys and test money',
    'stop other nodes on this DATA_DIR, or set another DATA_DIR to start over beside it.',
  ),
  agents: step(
    'agents',
    'starting and verifying the example agents',
    'look for their errors above; "npm ci" restores missing files of examples/.',
  ),
  dashboard: step('dashboard', 'building the pages', 'run "npm ci" again, or set DASHBOARD=false.'),
} as const satisfies Record<string, StartStep>;
