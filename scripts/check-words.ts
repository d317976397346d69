import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { isSource } from './split-files.ts';
import { docRules, documentRules, MAX_DOC_COMMENTS, messageRules, type WordRule } from './words.ts';

/**
 * Counts messages, lines of documents, and doc comments that break a rule of `words.ts`, and lists them with `--list`. With `--check` it exits 1 if a message or a
 * document breaks one, or if more doc comments do than `MAX_DOC_COMMENTS`.
 */
export interface Text {
  readonly line: number;
  readonly text: string;
}

const SQL = /^\(?(select|insert|update|delete|with|create|alter|drop|lock|from|where|and|or|join|left join|order by)\s/;

/**
 * Messages of a source file: string literals and JSX texts of at least two words. Left out are tagged templates, which are SQL or other code,
 * SQL, class names, and strings that code compares with, as keys are.
 */
export function messagesOf(source: ts.SourceFile): Text[] {
  const found: Text[] = [];
  const add = (node: ts.Node, raw: string) => {
    const text = raw.replace(/\s+/g, ' ').trim();
    if (!/[\p{L}}] [\p{L}{]/u.test(text) || SQL.test(text)) return;
    found.push({ line: lineOf(source, node.getStart(source)), text });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxAttribute(node) && node.name.getText(source) === 'className') return;
    for (const part of partsOf(source, node)) add(node, part);
    ts.forEachChild(node, ts.isTaggedTemplateExpression(node) ? visitExpressions : visit);
  };
  const visitExpressions = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node)) for (const { expression } of node.templateSpans) visit(expression);
  };
  visit(source);
  return found;
}

function partsOf(source: ts.SourceFile, node: ts.Node): string[] {
  if (ts.isTaggedTemplateExpression(node)) return node.tag.getText(source) === 'html' ? literalsOf(node.template) : [];
  if (ts.isTemplateExpression(node))
    return [node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('')];
  return ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isJsxText(node) ? [node.text] : [];
}

const literalsOf = (template: ts.TemplateLiteral): string[] =>
  ts.isTemplateExpression(template)
    ? [template.head.text, ...template.templateSpans.map(({ literal }) => literal.text)].map(withoutTags)
    : [withoutTags(template.text)];

const withoutTags = (html: string): string => html.replace(/<[^>]*>/g, ' ');

/** Doc comments of a source file. */
export const docCommentsOf = (source: ts.SourceFile): Text[] =>
  [...source.text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(({ 1: text = '', index }) => ({
    line: lineOf(source, index),
    text: text
      .replace(/^\s*\* ?/gm, '')
      .replace(/\s+/g, ' ')
      .trim(),
  }));

const lineOf = (source: ts.SourceFile, position: number): number =>
  source.getLineAndCharacterOfPosition(position).line + 1;

/** Returns the first rule that a text breaks. Text in code marks is code. */
export function brokenRule(text: string, rules: readonly WordRule[]): WordRule | undefined {
  const prose = text.replace(/`[^`]*`/g, '`…`');
  return rules.find(({ pattern }) => pattern.test(prose));
}

interface Counted {
  readonly texts: number;
  readonly broken: readonly string[];
}

/** Paragraphs, list items and rows of a Markdown document, without its code. */
const proseOf = (markdown: string): Text[] =>
  markdown
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, (code) => code.replaceAll(/[^\n]/g, ''))
    .split('\n')
    .map((text, at) => ({ line: at + 1, text: text.replace(/^[-*|#\d. ]+/, '').trim() }))
    .filter(({ text }) => text !== '');

/** History, the specification that we were given, and the test's list of what attackers want. */
const OTHERS_WORDS = /^(CHANGELOG|docs\/(spec|threat-model))\.md$/;

function countDocuments(paths: readonly string[]): Counted {
  const texts = paths
    .filter((path) => path.endsWith('.md') && !OTHERS_WORDS.test(path))
    .flatMap((path) => proseOf(readFileSync(path, 'utf8')).map((text) => ({ path, ...text })));
  const broken = texts.flatMap(({ path, line, text }) => {
    const rule = brokenRule(text, documentRules);
    return rule ? [`${path}:${line}  ${text.slice(0, 160)}  -> ${rule.instead}`] : [];
  });
  return { texts: texts.length, broken };
}

function count(paths: readonly string[], textsOf: (source: ts.SourceFile) => Text[], rules: readonly WordRule[]) {
  let texts = 0;
  const broken: string[] = [];
  for (const path of paths) {
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    for (const { line, text } of textsOf(source)) {
      texts += 1;
      const rule = brokenRule(text, rules);
      if (rule) broken.push(`${path}:${line}  ${text.slice(0, 160)}  -> ${rule.instead}`);
    }
  }
  return { texts, broken } satisfies Counted;
}

if (import.meta.main) {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => existsSync(path));
  const paths = files.filter((path) => isSource(path) && !path.endsWith('.generated.ts'));
  const messages = count(paths, messagesOf, messageRules);
  const docs = count(paths, docCommentsOf, docRules);
  const documents = countDocuments(files);
  const [isCheck, isList] = [process.argv.includes('--check'), process.argv.includes('--list')];
  const isOver = docs.broken.length > MAX_DOC_COMMENTS;
  for (const line of isCheck || isList ? [...messages.broken, ...documents.broken] : []) console.error(line);
  for (const line of isList || (isCheck && isOver) ? docs.broken : []) console.error(line);
  const share = ({ texts, broken }: Counted) => `${broken.length} of ${texts} (${percent(broken.length / texts)})`;
  console.log(
    `Words: messages ${share(messages)}; documents ${share(documents)}; doc comments ${share(docs)}, at most ${MAX_DOC_COMMENTS}`,
  );
  const isBroken = messages.broken.length + documents.broken.length > 0 || isOver;
  if (isCheck && (isBroken || paths.length === 0 || documents.texts === 0)) process.exitCode = 1;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`;
}
