import { openAccount } from '../../../../src/accounts/open-account.ts';
import { newId } from '../../../../src/lib/id.ts';
import { askDatabase } from '../../../support/books.ts';
import type { Harness } from '../../../support/harness.ts';
import type { TestAgent } from '../../../support/test-agent.ts';

let tokens = 0;

/** Stores the rows that a node has about a listed node; returns the row's id. */
export async function listNode(here: Harness, there: Pick<Harness, 'baseUrl' | 'ctx'>): Promise<string> {
  const { address } = there.ctx.wallet;
  const { accountId } = await openAccount(here.ctx, { address, plan: 'free', isWalletProven: false });
  const id = newId('acc').replace('acc', 'node');
  await askDatabase(
    here.databaseUrl,
    `insert into network_node (id, chain_id, token_id, base_url, label, version, wallet, account_id, status, next_check_at, joined_at, last_seen_at, is_interactive)
     values ($1, $2, $3, $4, 'there', '1', $5, $6, 'online', now() + interval '1 hour', now(), now(), true)`,
    [id, here.ctx.chain.chainId, ++tokens, there.baseUrl, address, accountId],
  );
  return id;
}

/** Stores the rows that a node has about an agent of another node. */
export async function listRemote(
  here: Harness,
  nodeId: string,
  agent: Pick<TestAgent, 'id' | 'endpoint'>,
  price = '50000',
  metadata: object = {},
) {
  await askDatabase(
    here.databaseUrl,
    `insert into agent (id, account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers,
       endpoint, metadata, status, reputation, next_check_at, last_seen_at, created_at, updated_at, home_node)
     select $1, n.account_id, $3, 'Remote', 'Of another node.', '{testing}', $4, $4, '{}', $5, $6, 'online', 500, null, now(), now(), now(), n.id
       from network_node n where n.id = $2`,
    [agent.id, nodeId, `0x${'ab'.repeat(20)}`, price, agent.endpoint, JSON.stringify(metadata)],
  );
  await askDatabase(here.databaseUrl, 'insert into agent_totals (agent_id) values ($1)', [agent.id]);
}
