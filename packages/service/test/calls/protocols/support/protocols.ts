import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import { startA2aUpstream } from './a2a-upstream.ts';
import { startMcpUpstream } from './mcp-upstream.ts';
import { startMipUpstream } from './mip-upstream.ts';
import { startOpenaiUpstream } from './openai-upstream.ts';
import { startPlainUpstream } from './plain-upstream.ts';
import type { TestUpstream } from './upstream.ts';

/** One row for each protocol that the node speaks to agents beside its own. */
export interface ProtocolRow {
  readonly name: string;
  readonly protocol: AgentProtocol;
  start(): Promise<TestUpstream>;
  readonly task: string;
  readonly input: Record<string, unknown>;
  readonly result: unknown;
  /** Texts in a stream of the answer. */
  readonly streamed: readonly string[];
  /** The mode in which a cancellation reaches it; null: its protocol has none. */
  readonly cancels: 'hangs' | 'pends' | null;
  /** True if work that has begun is found again after the process died. */
  readonly resumes: boolean;
}

export const protocols: readonly ProtocolRow[] = [
  {
    name: 'openai',
    protocol: 'openai',
    start: startOpenaiUpstream,
    task: 'Say hello',
    input: { tone: 'kind' },
    result: {
      text: 'Say hello\n\n{"tone":"kind"}!',
      finishReason: 'stop',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      model: 'test-model-1-2026',
    },
    streamed: ['{"chunk":"Say', 'event: invocation.chunk'],
    cancels: 'hangs',
    resumes: false,
  },
  {
    name: 'http-template',
    protocol: 'http-template',
    start: startPlainUpstream,
    task: 'Say "hello"',
    input: { tone: 'kind & calm', lines: 2 },
    result: 'Say "hello"! (kind & calm, 2)',
    streamed: ['kind & calm, 2', 'event: invocation.completed'],
    cancels: 'hangs',
    resumes: false,
  },
  {
    name: 'mcp',
    protocol: 'mcp',
    start: () => startMcpUpstream(),
    task: 'Hello',
    input: {},
    result: { text: 'shout: Hello!' },
    streamed: ['half way', 'event: invocation.status'],
    cancels: 'hangs',
    resumes: false,
  },
  {
    name: 'mcp with a handshake',
    protocol: 'mcp',
    start: () => startMcpUpstream({ isOld: true }),
    task: 'Hello',
    input: {},
    result: { text: 'shout: Hello!' },
    streamed: ['half way', 'event: invocation.status'],
    cancels: 'hangs',
    resumes: false,
  },
  {
    name: 'a2a',
    protocol: 'a2a',
    start: startA2aUpstream,
    task: 'Hello',
    input: { tone: 'kind' },
    result: { text: 'Hello!' },
    streamed: ['{"chunk":"Hello!"', 'event: invocation.chunk'],
    cancels: 'pends',
    resumes: true,
  },
  {
    name: 'mip-003',
    protocol: 'mip-003',
    start: startMipUpstream,
    task: 'Hello',
    input: {},
    result: { text: 'Hello!' },
    streamed: ['"text":"Hello!"'],
    cancels: null,
    resumes: true,
  },
];
