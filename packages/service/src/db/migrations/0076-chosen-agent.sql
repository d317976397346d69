-- The agent that the node chose for POST /invoke/auto, and why, as it is shown; null: the caller named the agent.
alter table invocation add column chosen json;
