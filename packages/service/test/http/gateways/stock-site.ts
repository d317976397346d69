import { expect } from 'vitest';
import { contradictions } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../support/treasury.ts';

type AgentOptions = NonNullable<Parameters<typeof startTestAgent>[1]>;

/** A node that may be shared, a buyer with a treasury, and the agents that a stock client is tried with. */
export interface StockSite {
  readonly h: Harness;
  readonly buyer: Client;
  readonly working: TestAgent;
  /** Answers nothing by itself. */
  readonly slow: TestAgent;
  readonly failing: TestAgent;
  /** Streams "one ", then "two". */
  readonly streaming: TestAgent;
  /** USDC that the buyer's treasury lost in the course of some work. */
  spent(work: () => Promise<unknown>): Promise<number>;
  /** Ends the agents, checks the books, and stops the node. */
  stop(): Promise<void>;
}

export async function startStockSite(
  h: Harness,
  working: AgentOptions,
  slow: AgentOptions = { behaviour: () => undefined },
): Promise<StockSite> {
  const buyer = await newClient(h, '10');
  const agents = await Promise.all([
    startTestAgent(h, { perRequest: '0.05', ...working }),
    startTestAgent(h, { name: 'Slow', ...slow }),
    startTestAgent(h, { name: 'Failing', behaviour: answerWith(500, { error: 'no' }) }),
    startTestAgent(h, {
      name: 'Streaming',
      behaviour: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: chunk\ndata: one \n\n');
        response.write('event: chunk\ndata: {"text":"two"}\n\n');
        response.end('event: result\ndata: {"result":{"text":"one two"}}\n\n');
      },
    }),
  ]);
  const available = async () => Number((await balanceOf(h, buyer.key)).available);
  return {
    ...{ h, buyer, working: agents[0], slow: agents[1], failing: agents[2], streaming: agents[3] },
    async spent(work) {
      const before = await available();
      await work();
      return Number((before - (await available())).toFixed(6));
    },
    async stop() {
      await Promise.all(agents.map((each) => each.die()));
      expect(await contradictions(h.databaseUrl)).toEqual([]);
      await h.stop();
    },
  };
}
