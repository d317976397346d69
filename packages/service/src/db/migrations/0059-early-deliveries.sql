-- The next attempt is earlier than the schedule says, as the endpoint has answered something else meanwhile: it uses up no step of it.
alter table webhook_delivery add column is_early boolean not null default false;
