import { createHash } from 'node:crypto';
import { AppError } from '../app-error.ts';
import { createBoundedCache } from '../bounded-cache.ts';
import { createJobThread, JobTimeoutError } from '../concurrency/job-thread.ts';
import { createMutex } from '../concurrency/mutex.ts';
import type { FileFacts } from './file-rule.ts';
import type { Fault } from './schema-rules.ts';
import type { Checked } from './validator.ts';

/** A schema and values as JSON. `isKnown`: the schema was taken before. */
export interface SchemaJob {
  readonly schema: string;
  readonly values: readonly string[];
  readonly isKnown: boolean;
  /** Facts about the files that the values refer to. */
  readonly files?: FileFacts | undefined;
}

/** Faults of a schema that is refused, or the result of each value's check. */
export type SchemaResult = { readonly refused: readonly Fault[] } | { readonly checked: readonly Checked[] };

/** With the start of the thread, on a machine that is busy. */
const MAX_JOB_MS = 10_000;
const IDLE_MS = 60_000;
const MAX_HEAP_MB = 256;
/** Limits of the jobs of one owner that wait; others wait for at most one of an owner's jobs. */
const WAIT_LIMITS = { maxWaiting: 16, timeoutMs: 10_000 };
const MAX_REFUSALS = 1000;
const REFUSAL_MS = 10 * 60_000;

/** Shared by the process. It uses a processor of its own, not the event loop. */
const thread = createJobThread<SchemaJob, SchemaResult>(new URL('schema-worker.ts', import.meta.url), {
  maxMs: MAX_JOB_MS,
  idleMs: IDLE_MS,
  maxHeapMb: MAX_HEAP_MB,
});
const owners = createMutex();
const refusals = createBoundedCache<readonly Fault[]>(MAX_REFUSALS, REFUSAL_MS);

/**
 * Compiles a stranger's schema and checks values by it, in a thread with a time limit. Refusals are cached for some minutes. Schemas of one
 * owner are compiled in turn. Throws UNAVAILABLE while too many of the owner's schemas wait.
 */
export async function judgeSchema(schema: unknown, values: readonly unknown[], owner: string): Promise<SchemaResult> {
  const job = { schema: JSON.stringify(schema), values: values.map((value) => JSON.stringify(value)), isKnown: false };
  const digest = createHash('sha256').update(JSON.stringify(job)).digest('base64');
  const known = refusals.get(digest);
  if (known) return { refused: known };
  const result = (await runForOwner(owner, job, true)) ?? {
    refused: [{ at: [], message: 'takes too long to be checked' }],
  };
  if ('refused' in result) refusals.set(digest, result.refused);
  return result;
}

/** Checks a value by a schema that was taken before, like `judgeSchema`. One that `mayWait` is checked however many wait. */
export async function checkInThread(
  {
    schema,
    value,
    files,
  }: { readonly schema: string; readonly value: unknown; readonly files?: FileFacts | undefined },
  { owner, mayWait }: { readonly owner: string; readonly mayWait: boolean },
): Promise<Checked> {
  const result = await runForOwner(
    owner,
    { schema, values: [JSON.stringify(value) ?? 'null'], isKnown: true, files },
    !mayWait,
  );
  return result && 'checked' in result ? (result.checked[0] ?? 'too_much') : 'too_much';
}

/** null: the job takes more time or memory than it may. */
async function runForOwner(owner: string, job: SchemaJob, isBounded: boolean): Promise<SchemaResult | null> {
  const release = await (isBounded ? owners.acquireWithin(owner, WAIT_LIMITS) : owners.acquire(owner));
  if (!release) throw tooMany();
  try {
    // Others may have filled the memory of the thread: this job is the first of the next one.
    return await run(job).catch((error) => (isOutOfMemory(error) ? run(job) : Promise.reject(error)));
  } catch (error) {
    if (isOutOfMemory(error)) return null;
    throw error;
  } finally {
    release();
  }
}

const run = (job: SchemaJob): Promise<SchemaResult | null> =>
  thread.run(job).catch((error) => (error instanceof JobTimeoutError ? null : Promise.reject(error)));

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

const tooMany = () =>
  new AppError(
    'UNAVAILABLE',
    'Too many schemas of this owner are being checked. Nothing was done; repeat the request later.',
    {
      details: { outcome: 'nothing' },
    },
  );
