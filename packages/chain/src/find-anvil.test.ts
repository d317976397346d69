import { expect, it } from 'vitest';
import { findAnvil } from './find-anvil.ts';

it.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'finds the anvil that npm installed, whatever the PATH',
  () => {
    expect(findAnvil('')).toMatch(/anvil-linux-amd64\/bin\/anvil$/);
  },
);
