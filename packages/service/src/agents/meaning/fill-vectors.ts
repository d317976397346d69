import type { Log } from '../../lib/telemetry/log.ts';
import type { Store } from '../../store/database.ts';
import { meanOf, type TextModel, toBytes } from './text-model.ts';
import { claimDueTexts, type DueText, keepVector, renewVectors } from './vector-store.ts';

type FillContext = Store & { readonly log: Log };

const CLAIM_MS = 60_000;
/** A run ends after this time, so that the model has as much again for other work, and a stop does not wait. */
const RUN_MS = 500;
const RENEWED_AT_ONCE = 1000;
/** Pause after a failure: starting the model in vain takes time of a processor. */
const FAILURE_PAUSE_MS = 60_000;
/** Pause between two looks for vectors of other models, such as processes with other settings make. */
const RENEW_PAUSE_MS = 3_600_000;

/** Gives the texts of agents their vectors. */
export interface VectorFiller {
  /** Makes those that are due, for half a second at most. Rejects when the model fails; then it pauses for a minute, and so do the claimed ones. */
  fill(): Promise<void>;
  /** True if there may be vectors of other models. */
  isRenewalDue(): boolean;
}

export function createVectorFiller(ctx: FillContext, model: TextModel): VectorFiller {
  let renewalDueMs = 0;
  let pausedUntilMs = 0;
  const isRenewalDue = () => performance.now() >= renewalDueMs;
  return {
    isRenewalDue,
    async fill() {
      if (performance.now() < pausedUntilMs) return;
      const { db, clock } = ctx;
      if (isRenewalDue()) {
        const count = await renewVectors(db, { model: model.id, now: clock.now(), limit: RENEWED_AT_ONCE });
        if (count < RENEWED_AT_ONCE) renewalDueMs = performance.now() + RENEW_PAUSE_MS;
      }
      const endMs = performance.now() + RUN_MS;
      do {
        const now = clock.now();
        const until = new Date(now.getTime() + CLAIM_MS);
        const due = await claimDueTexts(db, { now, until, limit: model.atOnce });
        if (due.length === 0) return;
        await makeVectors(ctx, model, due).catch((error) => {
          pausedUntilMs = performance.now() + FAILURE_PAUSE_MS;
          throw error;
        });
      } while (performance.now() < endMs);
    },
  };
}

async function makeVectors({ db }: FillContext, model: TextModel, due: readonly DueText[]): Promise<void> {
  const texts = due.map(textsOf);
  const vectors = await model.ofAgents(texts.flat());
  let next = 0;
  for (const [index, { id, claim }] of due.entries()) {
    const own = vectors.slice(next, next + (texts[index]?.length ?? 0)).filter((vector) => vector !== null);
    next += texts[index]?.length ?? 0;
    const mean = meanOf(own);
    await keepVector(db, { id, claim, model: model.id, vector: mean && toBytes(mean) });
  }
}

/** The description of an agent, and its example questions. Of all ways that were measured, the mean of their vectors finds it best. */
export const textsOf = ({
  name,
  description,
  capabilities,
  tags,
  exampleQuestions,
}: Omit<DueText, 'id' | 'claim'>): string[] => [
  [name, description, [...capabilities, ...(tags ?? [])].join(', ')].filter(Boolean).join('. '),
  ...exampleQuestions,
];
