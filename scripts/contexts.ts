import { dirname, join } from 'node:path/posix';
import ts from 'typescript';

/** Most interfaces that a use case names as its dependencies; most parts of an interface that groups dependencies. */
export const MAX_NAMED = 5;

/** An exported function, or an interface that groups dependencies. */
export interface NamedContext {
  /** `path:line`. */
  readonly place: string;
  readonly name: string;
  /** The interfaces that it names. */
  readonly named: readonly string[];
  /** The single dependencies in these, with all groups opened. */
  readonly single: number;
}

interface Source {
  readonly path: string;
  readonly file: ts.SourceFile;
  readonly aliases: Map<string, ts.TypeNode>;
  readonly interfaces: Map<string, ts.InterfaceDeclaration>;
  readonly functions: Map<string, { readonly node: ts.SignatureDeclaration; readonly isExported: boolean }>;
  /** Local name -> file and name there. */
  readonly imports: Map<string, { readonly path: string; readonly name: string }>;
}

type Sources = ReadonlyMap<string, Source>;

/** A name, and the interface that it stands for; null: it groups no dependencies. */
type Names = ReadonlyMap<string, Declared | null>;

interface Declared {
  readonly source: Source;
  readonly node: ts.InterfaceDeclaration;
}

/**
 * Dependencies that exported functions and groups name, from a map of paths to texts. An intersection names its members, a type alias the
 * names that it stands for, in whatever file it is declared. An interface is one name; it is listed itself when it groups dependencies.
 */
export function readContexts(files: ReadonlyMap<string, string>): NamedContext[] {
  const sources: Sources = new Map([...files].map(([path, text]) => [path, readSource(path, text)]));
  return [...sources.values()].flatMap((source) => {
    const placeOf = (node: ts.Node) =>
      `${source.path}:${source.file.getLineAndCharacterOfPosition(node.getStart(source.file)).line + 1}`;
    const contextOf = (name: string, node: ts.Node, names: Names): NamedContext => ({
      place: placeOf(node),
      name,
      named: [...names.keys()],
      single: singleIn(sources, names).size,
    });
    const functions = [...source.functions].flatMap(([name, { node, isExported }]) =>
      (isExported ? node.parameters : [])
        .map(({ type }) => (type ? namesIn(sources, source, type) : new Map()))
        .filter((names) => [...names.values()].some((declared) => declared !== null))
        .map((names) => contextOf(name, node, names)),
    );
    const groups = [...source.interfaces.values()]
      .filter((node) => isDependency(sources, { source, node }))
      .map((node) => contextOf(node.name.text, node, partsOf(sources, { source, node })));
    return [...functions, ...groups];
  });
}

function readSource(path: string, text: string): Source {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const source: Source = {
    path,
    file,
    aliases: new Map(),
    interfaces: new Map(),
    functions: new Map(),
    imports: new Map(),
  };
  for (const node of file.statements) {
    if (ts.isTypeAliasDeclaration(node)) source.aliases.set(node.name.text, node.type);
    if (ts.isInterfaceDeclaration(node)) source.interfaces.set(node.name.text, node);
    if (ts.isImportDeclaration(node)) noteImports(source, node);
    noteFunctions(source, node);
  }
  return source;
}

function noteImports({ path, imports }: Source, { importClause, moduleSpecifier }: ts.ImportDeclaration): void {
  const bindings = importClause?.namedBindings;
  if (!bindings || !ts.isNamedImports(bindings) || !ts.isStringLiteral(moduleSpecifier)) return;
  const from = join(dirname(path), moduleSpecifier.text);
  for (const { name, propertyName } of bindings.elements)
    imports.set(name.text, { path: from, name: (propertyName ?? name).text });
}

function noteFunctions({ functions }: Source, statement: ts.Statement): void {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  const isExported = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
  if (ts.isFunctionDeclaration(statement) && statement.name)
    functions.set(statement.name.text, { node: statement, isExported });
  if (!ts.isVariableStatement(statement)) return;
  for (const { name, initializer } of statement.declarationList.declarations)
    if (initializer && ts.isArrowFunction(initializer))
      functions.set(name.getText(), { node: initializer, isExported });
}

/** Members of an object literal type count each, as `.member`. */
function namesIn(sources: Sources, source: Source, type: ts.TypeNode): Names {
  if (ts.isIntersectionTypeNode(type))
    return new Map(type.types.flatMap((each) => [...namesIn(sources, source, each)]));
  if (ts.isParenthesizedTypeNode(type)) return namesIn(sources, source, type.type);
  if (ts.isTypeLiteralNode(type)) return new Map(type.members.map((each) => [memberName(each), null]));
  if (ts.isIndexedAccessTypeNode(type)) return namesInParameter(sources, source, type);
  if (!ts.isTypeReferenceNode(type)) return new Map();
  const name = type.typeName.getText();
  const [first] = type.typeArguments ?? [];
  if (['Omit', 'Pick', 'Partial'].includes(name) && first) return namesIn(sources, source, first);
  const home = homeOf(sources, source, name);
  const alias = home?.source.aliases.get(home.name);
  const names = home && alias ? namesIn(sources, home.source, alias) : new Map();
  return names.size > 1 || [...names.values()].some((declared) => declared !== null)
    ? names
    : new Map([[name, dependencyNamed(sources, source, name)]]);
}

/** Reads `Parameters<typeof useCase>[0]`. */
function namesInParameter(sources: Sources, source: Source, type: ts.IndexedAccessTypeNode): Names {
  const query = ts.isTypeReferenceNode(type.objectType) ? type.objectType.typeArguments?.[0] : undefined;
  if (!query || !ts.isTypeQueryNode(query)) return new Map();
  const home = homeOf(sources, source, query.exprName.getText());
  const parameter = home?.source.functions.get(home.name)?.node.parameters[Number(type.indexType.getText())];
  return home && parameter?.type ? namesIn(sources, home.source, parameter.type) : new Map();
}

function homeOf(sources: Sources, source: Source, name: string): { source: Source; name: string } | null {
  const { aliases, interfaces, functions, imports } = source;
  if (aliases.has(name) || interfaces.has(name) || functions.has(name)) return { source, name };
  const imported = imports.get(name);
  const from = imported && sources.get(imported.path);
  return from ? homeOf(sources, from, imported.name) : null;
}

function dependencyNamed(sources: Sources, source: Source, name: string): Declared | null {
  const home = homeOf(sources, source, name);
  const node = home?.source.interfaces.get(home.name);
  return home && node && isDependency(sources, { source: home.source, node }) ? { source: home.source, node } : null;
}

/** True for `HasDb`, and for interfaces that extend such a one. */
const isDependency = (sources: Sources, { source, node }: Declared): boolean =>
  /^Has[A-Z]/.test(node.name.text) || basesOf(node).some((base) => dependencyNamed(sources, source, base) !== null);

const basesOf = (node: ts.InterfaceDeclaration): string[] =>
  (node.heritageClauses ?? []).flatMap(({ types }) => types.map(({ expression }) => expression.getText()));

const partsOf = (sources: Sources, { source, node }: Declared): Names =>
  new Map([
    ...basesOf(node).map((base) => [base, dependencyNamed(sources, source, base)] as const),
    ...node.members.map((member) => [memberName(member), null] as const),
  ]);

function singleIn(sources: Sources, names: Names): Set<string> {
  const all = [...names].map(([name, declared]) =>
    declared ? singleIn(sources, partsOf(sources, declared)) : new Set([name]),
  );
  return new Set(all.flatMap((each) => [...each]));
}

const memberName = (member: ts.TypeElement): string => `.${member.name?.getText() ?? ''}`;
