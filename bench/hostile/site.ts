/** An account of the attacker. */
export interface HostileAccount {
  readonly apiKey: string;
  readonly accountId: string;
  readonly privateKey: `0x${string}`;
  readonly address: `0x${string}`;
}

/** Parameters of an attack: plain data, as it goes to another process. */
export interface Site {
  readonly attack: string;
  readonly seconds: number;
  /** Address from which the attacker connects. */
  readonly address: string;
  readonly baseUrl: string;
  readonly rpcUrl: string;
  readonly usdc: `0x${string}`;
  readonly database: string;
  readonly free: readonly HostileAccount[];
  /** Plan enterprise: what an hourly limit would stop in a second goes on for the whole minute. */
  readonly rich: HostileAccount;
  /** Account that the attacker impersonates without permission. */
  readonly victim: { readonly address: `0x${string}`; readonly privateKey: `0x${string}` };
}

/** A promise of the node beside its figures, and whether it held. */
export interface Claim {
  readonly text: string;
  readonly held: boolean;
}

export interface AttackResult {
  readonly attempts: number;
  /** Answers by status; `broken`: the connection was ended without one. */
  readonly answers: Readonly<Record<string, number>>;
  readonly claims: readonly Claim[];
}
