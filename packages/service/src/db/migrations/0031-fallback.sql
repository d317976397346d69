-- The agent that was asked for, when another took its place.
alter table invocation add column requested_agent_id text;
