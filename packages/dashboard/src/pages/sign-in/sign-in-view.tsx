import type { Session } from '@agent-network/contracts/access/sessions';
import { nodeName } from '@agent-network/contracts/node-name';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { client } from '../../app/client.ts';
import { networkName } from '../../app/network-name.ts';
import { type SessionInfo, sessionKey, useSessionInfo } from '../../app/session.ts';
import { tellSession } from '../../app/session-changes.ts';
import { Button } from '../../ui/controls/button.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { type Eip1193Provider, useInjectedWallets } from '../../wallet/injected-wallets.ts';
import { connectWallet, signText } from '../../wallet/sign-text.ts';

/** Back to where one wanted to go; only ever within the dashboard. */
function useGoOn(): () => void {
  const { to = '/' } = useSearch({ from: '/sign-in' });
  const router = useRouter();
  const navigate = useNavigate();
  const isInside = /^\/(?![/\\])/.test(to);
  return () => (isInside ? router.history.replace(`/dashboard${to}`) : void navigate({ to: '/', replace: true }));
}

export function SignInView() {
  const info = useSessionInfo();
  const wallets = useInjectedWallets();
  const queryClient = useQueryClient();
  const goOn = useGoOn();
  const signIn = useMutation({
    mutationFn: (open: () => Promise<Session>) => open(),
    onSuccess(session) {
      queryClient.clear();
      queryClient.setQueryData<SessionInfo>(sessionKey, { ...info, session });
      goOn();
    },
    // Also when the answer is lost: the browser may have the cookie.
    onSettled: tellSession,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when this page is opened by who is signed in already
  useEffect(() => {
    document.title = 'Sign in · agent-network';
    if (info.session) goOn();
  }, []);
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex flex-col items-center text-center">
          <img src="/dashboard/icon.svg" alt="" className="mb-4 size-10" />
          <h1 className="text-xl font-semibold tracking-tight">Sign in to {nodeName(info.label)}</h1>
          <p className="mt-1 text-muted">{networkName(info)}</p>
        </div>
        <div className="space-y-3 rounded-xl border border-line bg-surface p-5 shadow-card">
          {wallets.map(({ id, name, provider }, at) => (
            <Button
              key={id}
              variant={at === 0 ? 'primary' : 'secondary'}
              icon="wallet"
              className="w-full"
              disabled={signIn.isPending}
              onClick={() => signIn.mutate(() => signInWithWallet(provider))}
            >
              Sign in with {name}
            </Button>
          ))}
          {wallets.length === 0 && <NoWallet hasLocalAccount={info.hasLocalAccount} />}
          {info.hasLocalAccount && (
            <Button
              variant={wallets.length === 0 ? 'primary' : 'secondary'}
              icon="screen"
              className="w-full"
              disabled={signIn.isPending}
              onClick={() => signIn.mutate(signInLocally)}
            >
              Use the local account
            </Button>
          )}
          {signIn.isPending && (
            <p role="status" className="text-center text-muted">
              Waiting for the wallet…
            </p>
          )}
          <ErrorNote error={signIn.error} />
        </div>
        <p className="mt-4 text-center text-[13px] text-muted">
          Your wallet signs a message to prove it's yours. Signing is free and moves no money. Your first sign-in
          creates an account.
        </p>
      </div>
    </main>
  );
}

const NoWallet = ({ hasLocalAccount }: { readonly hasLocalAccount: boolean }) => (
  <p className="text-muted">
    {hasLocalAccount
      ? 'No wallet was found in this browser. You need none here: the local account has test money.'
      : 'No wallet was found in this browser. Install one that supports EIP-6963, then reload this page.'}
  </p>
);

/** Has the wallet sign that it is us, and opens the session of its account. */
async function signInWithWallet(provider: Eip1193Provider): Promise<Session> {
  const address = await connectWallet(provider);
  const { challengeId, message } = await client.requestSignIn({ body: { address } });
  const signature = await signText(provider, address, message);
  return client.createSession({ body: { challengeId, signature } });
}

const signInLocally = (): Promise<Session> => client.createLocalSession();
