import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import solc from 'solc';

const CONTRACTS = [
  'AgentHolder',
  'BatchExecutor',
  'ContractWallet',
  'Erc3009DepositCollector',
  'IdentityRegistry',
  'Multicall3',
  'ReputationRegistry',
  'TestUsdc',
  'X402BatchSettlement',
] as const;

type CompilerContract = {
  abi: { type: string; name?: string }[];
  evm: { bytecode: { object: string }; deployedBytecode: { object: string } };
};
type CompilerOutput = {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, CompilerContract>>;
};

/**
 * Compiles every contract of this package and returns the text of each artifact by file name. The text depends on the
 * sources and the pinned compiler alone, so two machines write the same bytes.
 */
export function compileContracts(): Map<string, string> {
  const sources = Object.fromEntries(
    CONTRACTS.map((name) => [`${name}.sol`, { content: readFileSync(contractUrl(name), 'utf8') }]),
  );
  const input = {
    language: 'Solidity',
    sources,
    settings: {
      evmVersion: 'shanghai',
      optimizer: { enabled: true, runs: 100_000 },
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput;
  const problems = (output.errors ?? []).map((problem) => problem.formattedMessage);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return new Map(CONTRACTS.map((name) => [`${name}.json`, artifactText(output.contracts?.[`${name}.sol`]?.[name])]));
}

function contractUrl(name: string): URL {
  return new URL(`../contracts/${name}.sol`, import.meta.url);
}

function artifactText(contract: CompilerContract | undefined): string {
  if (!contract) throw new Error('the compiler returned no code');
  const artifact = {
    abi: contract.abi.toSorted((a, b) => compareText(abiKey(a), abiKey(b))),
    bytecode: `0x${contract.evm.bytecode.object}`,
    deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
  };
  return `${JSON.stringify(artifact, null, 1)}\n`;
}

function abiKey(item: { type: string; name?: string }): string {
  return `${item.type} ${item.name ?? ''} ${JSON.stringify(item)}`;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

if (import.meta.main) {
  const folder = new URL('../artifacts/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of compileContracts()) {
    writeFileSync(new URL(file, folder), text);
    console.log(`${file}: ${text.length} bytes`);
  }
}
