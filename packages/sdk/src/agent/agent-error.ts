/** Thrown by `handle` to fail a call with a reason that its caller may read. Default status: 422, not worth repeating. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 422) {
    super(message);
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new RangeError(`not an error status: ${status}`);
    this.code = code;
    this.status = status;
  }
}
