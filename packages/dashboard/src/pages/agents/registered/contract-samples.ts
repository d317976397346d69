import type { CodeSample } from '../../../ui/values/code-block.tsx';
import { serveSample, wellKnownSample } from '../agent-samples.ts';
import { curlSample, type Known, pythonSample } from './contract-programs.ts';

/** The agent contract as programs. */
export const contractSamples = (agent: Known, origin: string): readonly CodeSample[] => [
  { label: 'TypeScript', code: serveSample(agent, origin) },
  { label: 'Python', code: pythonSample(agent) },
  { label: 'curl', code: curlSample(agent) },
  { label: 'Well-known file', code: wellKnownSample(agent) },
];
