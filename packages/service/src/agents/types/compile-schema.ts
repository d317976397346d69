import type { Validator } from '../../lib/json-schema/validator.ts';

/** The schemas of JSON Schema itself are loaded where agents declare types: elsewhere they would cost every start their reading. */
export async function compileKnown(schema: unknown): Promise<Validator> {
  const validator = await import('../../lib/json-schema/validator.ts');
  return validator.compileKnown(schema);
}
