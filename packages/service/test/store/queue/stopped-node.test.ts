import { expect, test } from 'vitest';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { startHarness } from '../../support/harness.ts';

/** In a function of its own: its variables would keep the node. */
async function stoppedNode(): Promise<WeakRef<object>> {
  const h = await startHarness();
  expect((await h.request('GET', '/readyz')).status).toBe(200);
  const node = new WeakRef<object>(h.ctx);
  await h.stop();
  return node;
}

test('nothing keeps a node that was stopped', async () => {
  const node = await stoppedNode();
  const isKept = () => {
    collectGarbage();
    return node.deref() !== undefined;
  };
  await expect.poll(isKept, { interval: 200 }).toBe(false);
});
