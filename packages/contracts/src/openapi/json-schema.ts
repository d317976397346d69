import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** Zod schemas that have a name of their own in a document, and are referred to instead of written out. */
export type NamedSchemas = ReadonlyMap<z.core.$ZodType, string>;

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function replaceContent(target: object, content: object): void {
  for (const key of Object.keys(target)) delete (target as JsonSchema)[key];
  Object.assign(target, content);
}

/**
 * Closes the objects that clients send, as the node refuses unknown fields. Removes details that do not help a reader: closed answers
 * (fields may be added), and the calendar written as a pattern.
 */
function tidy(node: JsonSchema, io: 'input' | 'output'): void {
  if (io === 'input' && node.properties !== undefined) node.additionalProperties ??= false;
  // The fields of one part are none of the other: both closed, they would take no object at all.
  if (Array.isArray(node.allOf))
    for (const part of node.allOf) if (part.additionalProperties === false) delete part.additionalProperties;
  if (io === 'output' && node.additionalProperties === false) delete node.additionalProperties;
  delete node.propertyNames;
  if (node.format === 'date-time') delete node.pattern;
}

/**
 * A zod schema as JSON Schema 2020-12, of requests (`input`) or answers (`output`). Named schemas inside it become references; the root
 * never does.
 */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output', named: NamedSchemas = new Map()): JsonSchema {
  const { $schema: _dialect, ...content } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema: node }) => {
      const name = Object.is(zodSchema, schema) ? undefined : named.get(zodSchema);
      if (name) replaceContent(node, refTo(name));
      else tidy(node, io);
    },
  }) as JsonSchema;
  return content;
}

/** The schema as a reference where it has a name, else written out. */
export function schemaOrRef(schema: z.ZodType, io: 'input' | 'output', named: NamedSchemas): JsonSchema {
  const name = named.get(schema);
  return name ? refTo(name) : jsonSchema(schema, io, named);
}
