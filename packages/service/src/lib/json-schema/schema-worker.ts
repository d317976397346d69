import { parentPort } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { forgetPatterns } from './pattern.ts';
import type { Fault } from './schema-rules.ts';
import type { SchemaJob, SchemaResult } from './schema-thread.ts';
import { compileKnown, compileSchema, type Validator } from './validator.ts';

const KEPT_BYTES = 64 * 1024 * 1024;
/** Estimated memory of a compiled schema per byte of its JSON, and of a used pattern, which may grow to 8 MB. */
const TO_A_BYTE = 10;
const TO_A_PATTERN = 2 * 1024 * 1024;

const kept = new LRUCache<string, Validator>({
  maxSize: KEPT_BYTES,
  sizeCalculation: (_, schema) =>
    Math.min(KEPT_BYTES, schema.length * TO_A_BYTE + (schema.split('"pattern').length - 1) * TO_A_PATTERN),
});

async function knownValidator(schema: string): Promise<Validator | readonly Fault[]> {
  const known = kept.get(schema);
  if (known) return known;
  try {
    const validator = await compileKnown(JSON.parse(schema));
    kept.set(schema, validator);
    return validator;
  } catch (error) {
    // The rules may be stricter than when it was taken.
    return [{ at: [], message: String(error) }];
  } finally {
    forgetPatterns();
  }
}

async function answer({ schema, values, isKnown, files }: SchemaJob): Promise<SchemaResult> {
  const validator = isKnown ? await knownValidator(schema) : await compileSchema(JSON.parse(schema));
  if (!('check' in validator)) return { refused: validator };
  return { checked: values.map((value) => validator.check(JSON.parse(value), { files })) };
}

/** Runs a job and posts its result. An error ends the thread, and so fails the job. */
parentPort?.on('message', async (job: SchemaJob) => parentPort?.postMessage(await answer(job)));
