-- Answers that come as messages of A2A, and pushes about questions.
alter table invocation_turn add column message_id text;
comment on column invocation_turn.message_id is 'The id that the caller gave to the message with the answer; null: the answer was no message';
alter table a2a_push drop constraint a2a_push_told_check, add constraint a2a_push_told_check
  check (told in ('nothing', 'pending', 'processing', 'result', 'ended') or told ~ '^input_required:[0-9]+$') not valid;
