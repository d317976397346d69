import { AgentRegistration } from '@agent-network/contracts/agents/agents';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApiMutation } from '../../app/api-query.ts';
import { useForm } from '../../forms/use-form.ts';
import { Button, buttonClass } from '../../ui/controls/button.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Actions } from '../../ui/overlays/dialog.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { linkClass } from '../../ui/values/link.tsx';
import { AgentFields } from './form/agent-fields.tsx';
import { noValues, problemsOfValues, registrationBody } from './form/agent-values.ts';
import { type NewAgent, RegisteredView } from './registered/registered-view.tsx';

const AgentsLink = () => (
  <Link to="/agents" className={linkClass}>
    My agents
  </Link>
);

/** Registers an agent, and shows its token this once. */
export function NewAgentView() {
  const [made, setMade] = useState<NewAgent | null>(null);
  return made ? (
    <RegisteredView agent={made} up={<AgentsLink />} />
  ) : (
    <Page
      title="Register an agent"
      up={<AgentsLink />}
      description="It's listed immediately, and can be called once you verify its endpoint."
    >
      <RegisterForm onMade={setMade} />
    </Page>
  );
}

function RegisterForm({ onMade }: { onMade: (agent: NewAgent) => void }) {
  const register = useApiMutation('registerAgent', { invalidates: ['listOwnAgents', 'listAgents'] });
  const form = useForm({
    initial: noValues,
    schema: AgentRegistration,
    toBody: registrationBody,
    check: problemsOfValues,
    async onSubmit(body, { endpoint, protocol }) {
      onMade({ ...(await register.mutateAsync({ body })), endpoint, protocol });
    },
  });
  return (
    <form onSubmit={form.submit} noValidate className="max-w-3xl space-y-5">
      <AgentFields form={form} endpointHint="You'll verify it next." />
      <ErrorNote error={form.failure} />
      <Actions>
        <Link to="/agents" className={buttonClass()}>
          Cancel
        </Link>
        <Button type="submit" variant="primary" isBusy={form.isBusy}>
          Register agent
        </Button>
      </Actions>
    </form>
  );
}
