import '@hyperjump/json-schema/draft-2020-12';
import * as Browser from '@hyperjump/browser';
import { addKeyword, type EvaluationPlugin, type Keyword, Validation } from '@hyperjump/json-schema/experimental';
import * as Instance from '@hyperjump/json-schema/instance/experimental';
import type { Json } from '../json/json-object.ts';
import { FILE_KEYWORD, type FileFacts, type FileRule, fitsFileRule } from './file-rule.ts';
import { compilePattern, type Pattern } from './pattern.ts';
import type { Work } from './work.ts';

// The library interprets schemas, so that no code is made from them. Its three keywords with regular expressions are replaced by ones that
// use RE2, that of unknown keywords by one that knows `x-file`, and a plugin counts the steps of each check.

const KEYWORD = 'https://json-schema.org/keyword/';

function patternOf(source: string): Pattern {
  const pattern = compilePattern(source);
  if (typeof pattern === 'string') throw new Error(`the pattern ${pattern}`);
  return pattern;
}

const textOf = (node: Instance.JsonNode): string => Instance.value<string>(node);

const pattern: Keyword<Pattern> = {
  id: `${KEYWORD}pattern`,
  compile: async (schema) => patternOf(Browser.value<string>(schema)),
  interpret: (compiled, instance) => Instance.typeOf(instance) !== 'string' || compiled.test(textOf(instance)),
};

type Evaluated = { evaluatedProperties?: Set<string> };
type PatternSchemas = readonly (readonly [Pattern, string])[];

const patternProperties: Keyword<PatternSchemas> = {
  id: `${KEYWORD}patternProperties`,
  async compile(schema, ast) {
    const compiled: [Pattern, string][] = [];
    for await (const [source, each] of Browser.entries(schema))
      compiled.push([patternOf(source), await Validation.compile(each as never, ast, schema)]);
    return compiled;
  },
  interpret(patterns, instance, context) {
    if (Instance.typeOf(instance) !== 'object') return true;
    let isValid = true;
    for (const [compiled, url] of patterns)
      for (const [nameNode, value] of Instance.entries(instance)) {
        if (!compiled.test(textOf(nameNode))) continue;
        if (!Validation.interpret(url, value, context)) isValid = false;
        (context as Evaluated).evaluatedProperties?.add(textOf(nameNode));
      }
    return isValid;
  },
  simpleApplicator: true,
};

interface Additional {
  readonly names: ReadonlySet<string>;
  readonly patterns: readonly Pattern[];
  readonly url: string;
}

const additionalProperties: Keyword<Additional> = {
  id: `${KEYWORD}additionalProperties`,
  async compile(schema, ast, parent) {
    const { properties = {}, patternProperties: patterns = {} } = Browser.value<Record<string, object>>(parent);
    return {
      names: new Set(Object.keys(properties)),
      patterns: Object.keys(patterns).map(patternOf),
      url: await Validation.compile(schema, ast, parent),
    };
  },
  interpret({ names, patterns, url }, instance, context) {
    if (Instance.typeOf(instance) !== 'object') return true;
    let isValid = true;
    for (const [nameNode, value] of Instance.entries(instance)) {
      const name = textOf(nameNode);
      if (names.has(name) || patterns.some((each) => each.test(name))) continue;
      if (!Validation.interpret(url, value, context)) isValid = false;
      (context as Evaluated).evaluatedProperties?.add(name);
    }
    return isValid;
  },
  simpleApplicator: true,
};

let known: FileFacts = {};

/** Runs a check, which waits for nothing, with facts about the files of its value. */
export function withFileFacts<T>(facts: FileFacts, check: () => T): T {
  known = facts;
  try {
    return check();
  } finally {
    known = {};
  }
}

/**
 * Keywords that the library does not know, of which one is `x-file`: it holds the files that the node has to their rule. An address is not
 * held to it, as its content is not known.
 */
const unknown: Keyword<readonly [name: string, value: unknown]> = {
  id: 'https://json-schema.org/keyword/unknown',
  compile: async (schema) => [schema.cursor.split('/').at(-1) ?? '', Browser.value<unknown>(schema)],
  interpret([name, rule], instance) {
    if (name !== FILE_KEYWORD || Instance.typeOf(instance) !== 'object') return true;
    const id = Instance.value<Json>(instance).$file;
    const file = typeof id === 'string' && Object.hasOwn(known, id) ? known[id] : undefined;
    return file === undefined || fitsFileRule(rule as FileRule, file);
  },
  annotation: ([, value]) => value,
};

for (const keyword of [pattern, patternProperties, additionalProperties, unknown])
  addKeyword(keyword as Keyword<unknown>);

const chargeNames = (work: Work, instance: Instance.JsonNode, patterns: readonly Pattern[]): void => {
  if (Instance.typeOf(instance) !== 'object') return;
  const size = patterns.reduce((sum, each) => sum + each.size, 1);
  for (const name of Instance.keys(instance)) work.chargeText(textOf(name).length + 1, size);
};

type Charge = (work: Work, compiled: unknown, instance: Instance.JsonNode) => void;

const chargeLength: Charge = (work, _, instance) => {
  if (Instance.typeOf(instance) === 'string') work.chargeText(textOf(instance).length);
};

/** Costs of keywords that do more than one step of work. The others only lead to schemas, which are counted themselves. */
const charges: ReadonlyMap<string, Charge> = new Map<string, Charge>([
  [
    pattern.id,
    (work, compiled, instance) => {
      if (Instance.typeOf(instance) === 'string')
        work.chargeText(textOf(instance).length, (compiled as Pattern).size / 4);
    },
  ],
  [
    patternProperties.id,
    (work, compiled, instance) =>
      chargeNames(
        work,
        instance,
        (compiled as PatternSchemas).map(([each]) => each),
      ),
  ],
  [
    additionalProperties.id,
    (work, compiled, instance) => chargeNames(work, instance, (compiled as Additional).patterns),
  ],
  [`${KEYWORD}minLength`, chargeLength],
  [`${KEYWORD}maxLength`, chargeLength],
  [
    `${KEYWORD}enum`,
    (work, values, instance) => {
      work.charge((values as unknown[]).length / 8);
      work.chargeValue(Instance.value(instance));
    },
  ],
  [`${KEYWORD}const`, (work, _, instance) => work.chargeValue(Instance.value(instance))],
  [`${KEYWORD}uniqueItems`, (work, _, instance) => work.chargeValue(Instance.value(instance))],
  [`${KEYWORD}required`, (work, names) => work.charge((names as unknown[]).length / 8)],
  [
    `${KEYWORD}dependentRequired`,
    (work, lists) => work.charge((lists as [string, string[]][]).reduce((sum, [, names]) => sum + names.length, 1)),
  ],
]);

/** Counts every visit of a schema and the work of its keywords, before it is done. */
export const counting = (work: Work): EvaluationPlugin => ({
  beforeSchema: () => work.charge(1),
  beforeKeyword: ([id, , compiled], instance) => charges.get(id)?.(work, compiled, instance),
});
