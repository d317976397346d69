import type { CallableAgent } from './agent.ts';
import type { TypeChecks } from './listing/type-checks.ts';
import type { Meaning } from './meaning/meaning.ts';
import type { Listing } from './search/listing.ts';
/** Finds agents to call, from memory where they are known. */
export interface AgentFinder {
  find(id: string): Promise<CallableAgent | null>;
  /** Has the next look-up read the agent again. */
  forget(id: string): void;
}

/** Checks of agents in this process: endpoint proofs of pending agents, health probes of the others. */
export interface AgentChecks {
  /**
   * Begins the checks that are due, as far as there is room; while some are running, one run looks for others that are due. Resolves when
   * those that it began have ended.
   */
  run(): Promise<void>;
  /** Runs the due checks soon rather than at the next tick. */
  requestRun(): void;
  /** Starts no further checks. Running ones are abandoned without recording; they are due again after their lease. */
  stop(): void;
}

/** Services of agents: the index, search by meaning, look-ups, checks of types and of endpoints. */
export interface AgentServices {
  readonly listing: Listing;
  readonly meaning: Meaning;
  readonly agentFinder: AgentFinder;
  readonly typeChecks: TypeChecks;
  readonly agentChecks: AgentChecks;
}
