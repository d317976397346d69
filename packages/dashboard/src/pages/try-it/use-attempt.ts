import { mayHaveHappened, type StreamEvent } from '@agent-network/sdk';
import { useEffect, useRef, useState } from 'react';
import { client, payingClient } from '../../app/client.ts';
import type { WalletPayer } from '../../wallet/wallet-payer.ts';
import type { CallBody, Mode } from './call-values.ts';

/** A call made at most once, however often it is tried: with the same key, body and payment. */
export interface Attempt {
  readonly key: string;
  readonly agentId: string;
  readonly body: CallBody;
  readonly quoteId: string;
  readonly mode: Mode;
  /** Pays by wallet; null: the treasury does, or there is nothing to pay. */
  readonly payer: WalletPayer | null;
  readonly isFree: boolean;
}

interface Watcher {
  readonly onRequest: (requestId: string) => void;
  /** Returns false to stop watching; the call continues. */
  readonly onEvent: (event: StreamEvent) => boolean;
}

/** Makes the call, or finds the outcome of an earlier attempt. Resolves when it is accepted; a stream, when it has ended. */
async function runAttempt(attempt: Attempt, { onRequest, onEvent }: Watcher): Promise<void> {
  const { agentId, body, quoteId, mode, payer, isFree, key } = attempt;
  const caller = payer ? payingClient(payer) : client;
  const headers = {
    ...(isFree ? {} : { 'x-payment-method': payer ? ('x402' as const) : ('treasury' as const) }),
    ...payer?.signed(),
  };
  if (mode === 'stream') {
    const events = caller.invokeStreaming(agentId, body, { headers, quote: quoteId, idempotencyKey: key });
    for await (const event of events) {
      onRequest(event.data.requestId);
      if (!onEvent(event)) return;
    }
    return;
  }
  const { requestId } = await caller.invokeAgent(
    {
      params: { agentId },
      query: { quote: quoteId },
      headers: { ...headers, ...(mode === 'sync' ? { 'x-sync': 'true' } : {}) },
      body,
    },
    { idempotencyKey: key },
  );
  onRequest(requestId);
}

interface State {
  /** The last that was begun; null: none. */
  readonly attempt: Attempt | null;
  readonly isBusy: boolean;
  readonly requestId: string | null;
  readonly events: readonly StreamEvent[];
  readonly error: unknown;
}

const idle: State = { attempt: null, isBusy: false, requestId: null, events: [], error: null };

export interface Attempting extends State {
  /** True if the outcome of the attempt is unknown: it can only be repeated unchanged. */
  readonly isUnclear: boolean;
  /** Makes an attempt and runs it; pressed twice, it is one. `open` may ask the wallet, and throw. */
  begin(open: () => Promise<Attempt>): void;
  /** Tries the same again: it is not paid a second time. */
  again(): void;
  reset(): void;
}

/** One attempt at a time, with its observed state. */
export function useAttempt(): Attempting {
  const [state, setState] = useState(idle);
  const isRunning = useRef(false);
  const isGone = useRef(false);
  const heard = useRef<StreamEvent[]>([]);
  const shown = useRef(0);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  const change = (part: Partial<State>) => setState((before) => ({ ...before, ...part }));
  const showHeard = () => {
    shown.current = heard.current.length;
    change({ events: [...heard.current] });
  };
  /** Shown once a frame, however many come. */
  function onEvent(event: StreamEvent): boolean {
    heard.current.push(event);
    if (heard.current.length === shown.current + 1) requestAnimationFrame(showHeard);
    return !isGone.current;
  }

  async function run(open: () => Promise<Attempt>): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    heard.current = [];
    shown.current = 0;
    change({ isBusy: true, error: null, events: [] });
    try {
      const attempt = await open();
      change({ attempt });
      await runAttempt(attempt, { onRequest: (requestId) => change({ requestId }), onEvent });
    } catch (error) {
      change({ error });
    } finally {
      isRunning.current = false;
      showHeard();
      change({ isBusy: false });
    }
  }

  const { attempt } = state;
  return {
    ...state,
    isUnclear: attempt !== null && state.requestId === null && mayHaveHappened(state.error),
    begin: (open) => void run(open),
    again: () => void (attempt && run(() => Promise.resolve(attempt))),
    reset: () => isRunning.current || setState(idle),
  };
}
