/** Reason that a local chain is unavailable. Each message has the remedy for the operator. */
export type LocalChainProblem =
  | 'ANVIL_MISSING'
  | 'ANVIL_FAILED'
  | 'PORT_TAKEN'
  | 'DATA_DIR_IN_USE'
  | 'STATE_UNREADABLE'
  | 'STATE_MISSING';

/** A local chain that cannot start or continue; `code` names the reason. */
export class LocalChainError extends Error {
  readonly code: LocalChainProblem;

  constructor(code: LocalChainProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LocalChainError';
    this.code = code;
  }
}
