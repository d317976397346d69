import {
  BASIC,
  buildSchemaDocument,
  type CompiledSchema,
  compile,
  getSchema,
  interpret,
} from '@hyperjump/json-schema/experimental';
import * as Instance from '@hyperjump/json-schema/instance/experimental';
import { isDeeperThan, MAX_LEVELS } from '../json/json-limits.ts';
import { explain, type RawError } from './explain.ts';
import type { FileFacts } from './file-rule.ts';
import { counting, withFileFacts } from './keywords.ts';
import { forgetPatterns } from './pattern.ts';
import { type Fault, faultsOfSchema } from './schema-rules.ts';
import { MAX_STEPS, TooMuchWorkError, Work } from './work.ts';

interface How {
  readonly maxSteps?: number;
  /** Facts about the files that the value refers to. */
  readonly files?: FileFacts | undefined;
}

/** A compiled JSON Schema (2020-12). It is interpreted, so no code is generated from strangers' texts. */
export interface Validator {
  check(value: unknown, how?: How): Checked;
}

/** Faults of a value, at most twenty; empty: the value fits. `too_much`: the check takes more than the allowed steps. */
export type Checked = readonly Fault[] | 'too_much';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** Every schema is its own document: references stay within it, and nothing is registered or fetched. */
const PLACE = 'https://schema.invalid/schema';

/** Compiles a new schema, or returns the faults for which this node refuses it. */
export async function compileSchema(schema: unknown): Promise<Validator | readonly Fault[]> {
  try {
    const faults = faultsOfSchema(schema);
    if (faults.length > 0) return faults.slice(0, 20);
    const broken = (await metaValidator()).check(schema);
    if (broken === 'too_much') return [{ at: [], message: 'is too large to be checked' }];
    if (broken.length > 0) return broken;
    return await compileKnown(schema);
  } finally {
    forgetPatterns();
  }
}

/** Compiles a schema that was taken before. Throws for one that is not taken any more. */
export async function compileKnown(schema: unknown): Promise<Validator> {
  const { $id: _id, ...root } = structuredClone(schema) as Record<string, unknown>;
  return validatorOf(await compileDocument(root), root);
}

async function compileDocument(root: Record<string, unknown>): Promise<CompiledSchema> {
  const document = buildSchemaDocument(root as never, PLACE, DIALECT);
  return compile(await getSchema(PLACE, { _cache: { [PLACE]: document } } as never));
}

let meta: Promise<Validator> | null = null;

/** The schema of schemas. */
function metaValidator(): Promise<Validator> {
  meta ??= getSchema(DIALECT).then(async (schema) => validatorOf(await compile(schema), null));
  return meta;
}

const validatorOf = (compiled: CompiledSchema, schema: Record<string, unknown> | null): Validator => ({
  check(value, { maxSteps = MAX_STEPS, files = {} } = {}) {
    if (isDeeperThan(value, MAX_LEVELS.result))
      return [{ at: [], message: `is nested deeper than ${MAX_LEVELS.result} levels` }];
    const work = new Work(maxSteps);
    try {
      work.chargeValue(value);
      return withFileFacts(files, () => faultsOf(compiled, schema, value, work));
    } catch (error) {
      if (error instanceof TooMuchWorkError || error instanceof RangeError) return 'too_much';
      throw error;
    }
  },
});

function faultsOf(
  compiled: CompiledSchema,
  schema: Record<string, unknown> | null,
  value: unknown,
  work: Work,
): readonly Fault[] {
  const instance = Instance.fromJs(value as never);
  const plugins = [counting(work)];
  try {
    const output = interpret(compiled, instance, { outputFormat: BASIC, plugins }) as Output;
    return output.valid ? [] : explain(output.errors ?? [], schema, value);
  } catch (error) {
    // The library writes the place of an error as a URI, which takes no half of a character. One of an alternative is no fault yet.
    if (!(error instanceof URIError)) throw error;
    const { valid } = interpret(compiled, instance, { plugins }) as Output;
    return valid ? [] : [{ at: [], message: 'does not fit at a name that holds half of a character' }];
  }
}

interface Output {
  readonly valid: boolean;
  readonly errors?: RawError[];
}
