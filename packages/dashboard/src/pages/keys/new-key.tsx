import type { ReactNode } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { CodeBlock } from '../../ui/values/code-block.tsx';
import { Secret } from '../../ui/values/secret.tsx';

interface NewKeyProps {
  readonly secret: string;
  readonly onDone: () => void;
  readonly children?: ReactNode;
}

/** The secret of a key that was just made, and how to use it. */
export const NewKey = ({ secret, onDone, children }: NewKeyProps) => (
  <div className="space-y-4">
    {children && <p className="text-muted">{children}</p>}
    <Secret value={secret} label="API key" />
    <CodeBlock
      label="Example"
      samples={[
        { label: 'curl', code: `curl -H 'Authorization: Bearer ${secret}' ${location.origin}/account` },
        {
          label: 'SDK',
          code: `import { createClient } from '@agent-network/sdk';\n\nconst client = createClient({\n  baseUrl: '${location.origin}',\n  apiKey: '${secret}',\n});\nconsole.log(await client.getAccount());`,
        },
      ]}
    />
    <Actions>
      <Button variant="primary" onClick={onDone}>
        Done
      </Button>
    </Actions>
  </div>
);
