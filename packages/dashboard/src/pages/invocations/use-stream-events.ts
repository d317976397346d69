import type { StreamEvent } from '@agent-network/sdk';
import { useEffect, useState } from 'react';
import { client } from '../../app/client.ts';

/** A long stream is kept to its end. */
const MAX_KEPT = 500;
/** Events come faster than anyone reads; they are drawn this often. */
const DRAW_MS = 100;

interface StreamEvents {
  readonly events: readonly StreamEvent[];
  readonly error: unknown;
  readonly hasEnded: boolean;
}

/** The events of an invocation from its first, and on as they come. */
export function useStreamEvents(requestId: string): StreamEvents {
  const [state, setState] = useState<StreamEvents>({ events: [], error: null, hasEnded: false });
  useEffect(() => {
    const leaving = new AbortController();
    let events: readonly StreamEvent[] = [];
    const draw = (more: Partial<StreamEvents> = {}) =>
      leaving.signal.aborted || setState((before) => ({ ...before, events, ...more }));
    const timer = setInterval(draw, DRAW_MS);
    const read = async () => {
      try {
        for await (const event of client.stream(requestId, { signal: leaving.signal }))
          events = [...events, event].slice(-MAX_KEPT);
        draw({ hasEnded: true });
      } catch (error) {
        draw({ error });
      } finally {
        clearInterval(timer);
      }
    };
    void read();
    return () => {
      leaving.abort();
      clearInterval(timer);
    };
  }, [requestId]);
  return state;
}
