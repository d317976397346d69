import type { CallableAgent } from '../../agents/agent.ts';
import type { HasAgentFinder } from '../../agents/alternatives/find-agent.ts';
import { readTerms, type SaleTerms } from '../../agents/read-terms.ts';
import type { Tx } from '../../db/sql.ts';
import { AppError } from '../../lib/app-error.ts';

/** The sale of a call, as decided before its request is stored. */
export interface Sale {
  readonly agent: Pick<
    CallableAgent,
    'id' | 'perRequestMicro' | 'takesHints' | 'perUnit' | 'sizeSteps' | 'typesId' | 'shownShare'
  >;
  /** True when a quote or a signed offer sets the price. */
  readonly isPriceLocked: boolean;
}

/** The agent was withdrawn, costs something else, or takes another input, since the sale was decided. Nothing was charged or stored. */
export class AgentChangedError extends Error {
  readonly agentId: string;

  constructor(agentId: string) {
    super(`agent ${agentId} changed while a call of it was accepted`);
    this.agentId = agentId;
  }
}

/**
 * The sales that no longer hold, by their agents as the database has them now. Sales are decided with agents from memory, and some time
 * before their requests are stored; what counts is the row in the transaction that holds the money.
 */
export async function findChanged(tx: Tx, sales: readonly Sale[]): Promise<ReadonlySet<Sale>> {
  const terms = await readTerms(
    tx,
    sales.map(({ agent }) => agent.id),
  );
  return new Set(sales.filter((sale) => !holds(sale, terms.get(sale.agent.id))));
}

const holds = ({ agent, isPriceLocked }: Sale, now: SaleTerms | undefined): boolean =>
  now !== undefined &&
  now.status === 'online' &&
  now.typesId === agent.typesId &&
  (isPriceLocked || isSamePrice(now, agent));

const isSamePrice = (now: SaleTerms, then: Sale['agent']): boolean =>
  now.perRequestMicro === then.perRequestMicro &&
  now.takesHints === then.takesHints &&
  now.shownShare === then.shownShare &&
  JSON.stringify([now.perUnit, now.sizeSteps]) === JSON.stringify([then.perUnit, then.sizeSteps]);

const MAX_TRIES = 5;

/** Decides a call anew, with the agent as it is now, when it changed meanwhile. */
export async function withPresentAgent<T>(ctx: HasAgentFinder, decide: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof AgentChangedError)) throw error;
      if (tries === MAX_TRIES)
        throw new AppError('UNAVAILABLE', 'The agent keeps changing at the moment. Nothing was charged.', {
          details: { outcome: 'nothing' },
        });
      ctx.agentFinder.forget(error.agentId);
    }
  }
}
