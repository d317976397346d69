import type { AgentCall } from '@agent-network/sdk/agent';

/** Answers the calls of a served agent. */
export interface Backend {
  /** The result, or a generator of its pieces. Stops when the call's signal aborts. */
  run(call: AgentCall): unknown;
  close(): Promise<void>;
}

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** The task in words, after its context. */
export const textOf = ({ task, context }: AgentCall): string => (context ? `${context}\n\n${task}` : task);

export const hasInput = ({ input }: AgentCall): boolean => Object.keys(input).length > 0;

/** The environment of a program that answers strangers, without the keys of the CLI user. */
export const withoutOurs = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('AGENTNET_') ? [] : [[name, value]],
    ),
  );
