-- Agents are found in memory (src/agents/search): the tables that they were found by in SQL are no longer read.
drop view agent_found;
drop table agent_listing, agent_search, agent_response, agent_count, agent_bits, agent_toggle;
drop function agent_marks, amount_levels, amount_step;
