import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeAgent } from '../../../src/agents/listing/remove-agent.ts';
import { prepareAgent } from '../../../src/compose/local/prepare-agent.ts';
import { newId } from '../../../src/lib/id.ts';
import { askDatabase } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await borrowHarness();
});
afterAll(() => h.stop());

const newDescription = () => ({
  name: newId('req'),
  description: 'Answers with what it was given',
  capabilities: ['echo'],
  rates: { perRequest: '0.01' },
});

describe('an example agent', () => {
  it('is registered once, however often the node starts', async () => {
    const [owner, keys, description] = [await h.newAccount(), { agents: {} }, newDescription()];
    const first = await prepareAgent(h.ctx, keys, owner, description);
    expect(await prepareAgent(h.ctx, keys, owner, description)).toMatchObject({
      id: first.id,
      identityToken: first.identityToken,
    });
  });

  it.each([
    ['whose types cannot be checked is registered without them: the start goes on', 'no such type', null],
    ['is registered with its types', 'object', expect.any(String)],
  ])('%s', async (_, type, typesId) => {
    const types = { inputSchema: { type: 'object' }, outputSchema: { type } };
    const { id } = await prepareAgent(h.ctx, { agents: {} }, await h.newAccount(), { ...newDescription(), types });
    const rows = await askDatabase(h.databaseUrl, `select types_id from agent where id = '${id}'`);
    expect(rows).toEqual([{ types_id: typesId }]);
  });

  it.each([
    ['of an earlier version gets types and example questions', null, 200, true],
    ['that its owner changed stays as it is', { description: 'Mine.' }, 200, false],
    ['of which a change was refused gets them', { description: 1 }, 400, true],
  ])('%s', async (_, body, status, isTyped) => {
    const [owner, keys, former] = [await h.newAccount(), { agents: {} }, newDescription()];
    const { id } = await prepareAgent(h.ctx, keys, owner, former);
    if (body) expect((await h.request('PUT', `/agents/${id}`, { key: owner.key, body })).status).toBe(status);
    const exampleQuestions = ['Repeat what I say', 'Check that a call works'];
    const types = { inputSchema: { type: 'object' } };
    for (let start = 0; start < 2; start++)
      await prepareAgent(h.ctx, keys, owner, { ...former, types, exampleQuestions });
    const { data } = (await h.request('GET', `/agents/${id}`)).body;
    expect([data.types, data.exampleQuestions]).toEqual(isTyped ? [types, exampleQuestions] : [undefined, []]);
  });

  it('that was removed is registered anew', async () => {
    const [owner, keys, description] = [await h.newAccount(), { agents: {} }, newDescription()];
    const first = await prepareAgent(h.ctx, keys, owner, description);
    await removeAgent(h.ctx, owner, first.id);
    expect((await prepareAgent(h.ctx, keys, owner, description)).id).not.toBe(first.id);
  });

  it.each([
    ['whose token was sold to another account', 'update agent set account_id = $2 where id = $1'],
    ['whose token was sold to a wallet that is not known here', 'update agent set frozen_at = now() where id = $1'],
  ])('%s is registered anew, and keeps no node from its start', async (_, change) => {
    const [owner, buyer] = [await h.newAccount(), await h.newAccount()];
    const keys = { agents: {} };
    const description = newDescription();
    const first = await prepareAgent(h.ctx, keys, owner, description);
    await askDatabase(h.databaseUrl, change.replace('$1', `'${first.id}'`).replace('$2', `'${buyer.accountId}'`));
    const second = await prepareAgent(h.ctx, keys, owner, description);
    expect(second.id).not.toBe(first.id);
    expect(await prepareAgent(h.ctx, keys, owner, description)).toMatchObject({ id: second.id });
  });
});
