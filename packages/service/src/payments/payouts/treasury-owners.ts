/** Owners of agents, as the chain names them now. */
export interface TreasuryOwners {
  /** Throws CONFLICT when an agent's treasury belongs to another wallet by now, UNAVAILABLE when that can't be found out. */
  require(agentId: string): Promise<void>;
}
